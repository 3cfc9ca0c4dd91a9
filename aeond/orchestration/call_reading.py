"""A tool call as a model writes it while a request is routed: validated, mended in form, or refused."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.budgets import Grant
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen
from aeond.orchestration.contracts import Supervisor
from aeond.orchestration.meaning import values_in
from aeond.orchestration.plan_schema import MAX_STRING_CHARS
from aeond.orchestration.schema_parts import as_object
from aeond.orchestration.step_references import references_in_value
from aeond.ports import Validator

_CUT: Final = "ARGUMENT_CUT"
_REFERS: Final = "REFERENCE_UNRESOLVED"


@frozen
class CallReading:
    """Reads `{"tool", "arguments"}`."""

    supervisor: Supervisor
    validator: Validator

    async def read(
        self, said: JsonObject, specs: Sequence[ToolSpec], grant: Grant
    ) -> Outcome[ToolCall | None]:
        """The call of one of these tools, with every required argument, no unknown one, and no reference."""
        name = said.get("tool")
        spec = next((spec for spec in specs if spec.name == name), None)
        if spec is None:
            return failure(Problem("TOOL_UNKNOWN", f"there is no tool {name!r:.80} to call"), None)
        call = ToolCall(spec.name, as_object(said.get("arguments")))
        problem = self._problem_with(call, spec)
        if problem is None:
            return success(call)
        if problem.reason in (_CUT, _REFERS):  # what it says is wrong, not how it is written
            return failure(problem, None)
        source: JsonValue = {"tool": call.tool, "arguments": call.arguments}
        mended = await self.supervisor.repair_tool_call(source, spec, grant)
        if not mended.ok or mended.value is None or self._problem_with(mended.value, spec):
            return failure(problem, None)
        return success(mended.value)

    def _problem_with(self, call: ToolCall, spec: ToolSpec) -> Problem | None:
        if any(True for _ in references_in_value(call.arguments, ())):
            return Problem(_REFERS, "a call is made with values, not with references to steps")
        if any(isinstance(v, str) and len(v) >= MAX_STRING_CHARS for v in values_in(call.arguments)):
            return Problem(_CUT, f"an argument is longer than {MAX_STRING_CHARS} characters")
        return next(iter(self.validator.validate_tool_call(call, spec)), None)
