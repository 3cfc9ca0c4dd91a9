"""Reads what a model decided: the action, with the arguments of a call checked and repaired in their form."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.runs.budgets import Grant
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen
from aeond.orchestration.decision.forms.schema import ANSWER, CANNOT, PLAN
from aeond.orchestration.decision.interfaces import CallTool, Decision, GiveAnswer, MakePlan, Offer
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import Validator
from aeond.schemas.parts import as_object

UNREADABLE: Final = "DECISION_UNREADABLE"


@frozen
class DecisionReading:
    """Reads decisions; the Supervisor repairs the form of a call, and nothing else."""

    supervisor: Supervisor
    validator: Validator

    async def read(self, value: JsonValue, offer: Offer, grant: Grant) -> Outcome[Decision | None]:
        """The decision in a single-key object; DECISION_UNREADABLE where it is none of those offered."""
        said = as_object(value)
        if len(said) != 1:
            return failure(Problem(UNREADABLE, "a decision is an object with one key"), None)
        name, content = next(iter(said.items()))
        if name in (ANSWER, CANNOT) and isinstance(content, str) and content.strip():
            return success(GiveAnswer(content.strip(), fulfilled=name == ANSWER))
        if name == PLAN and offer.plan:
            return success(MakePlan())
        called = await self.call(name, as_object(content), offer.tools, grant)
        if called.value is None:
            return called.failed(None)
        return success(CallTool(called.value))

    async def call(
        self, name: str, arguments: JsonObject, specs: Sequence[ToolSpec], grant: Grant
    ) -> Outcome[ToolCall | None]:
        """A call of one of these tools with every required argument and no unknown one."""
        spec = next((spec for spec in specs if spec.name == name), None)
        if spec is None:
            return failure(Problem("TOOL_UNKNOWN", f"there is no tool {name!r:.80} to call"), None)
        call = ToolCall(spec.name, arguments)
        problem = next(iter(self.validator.validate_tool_call(call, spec)), None)
        if problem is None:
            return success(call)
        repaired = await self.supervisor.repair_tool_call(call, spec, grant)
        if not repaired.ok or repaired.value is None:
            return failure(problem, None)
        if self.validator.validate_tool_call(repaired.value, spec):
            return failure(problem, None)
        return success(repaired.value)
