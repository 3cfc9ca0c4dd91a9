"""Reads what a model decided: the action, with the arguments of a call checked and repaired in their form."""

from typing import Final

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.runs.budgets import Grant
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonValue
from aeond.orchestration.decision.forms.schema import ANSWER, CANNOT, PLAN
from aeond.orchestration.decision.interfaces import CallTool, Decision, GiveAnswer, MakePlan, Offer
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.schemas.parts import as_object

UNREADABLE: Final = "DECISION_UNREADABLE"


async def read_decision(
    supervisor: Supervisor, value: JsonValue, offer: Offer, grant: Grant
) -> Outcome[Decision | None]:
    """The decision in a single-key object; DECISION_UNREADABLE where it is none of those offered. The Supervisor repairs the form of a call, and
    nothing else."""
    said = as_object(value)
    if len(said) != 1:
        return failure(Problem(UNREADABLE, "a decision is an object with one key"), None)
    name, content = next(iter(said.items()))
    if name in (ANSWER, CANNOT) and isinstance(content, str) and content.strip():
        return success(GiveAnswer(content.strip(), fulfilled=name == ANSWER))
    if name == PLAN and offer.plan:
        return success(MakePlan())
    spec = offer.tool(name)
    if spec is None:
        return failure(Problem("TOOL_UNKNOWN", f"there is no tool {name!r:.80} to call"), None)
    call = ToolCall(spec.name, as_object(content))
    problem = next(iter(supervisor.validator.validate_tool_call(call, spec)), None)
    if problem is None:
        return success(CallTool(call))
    repaired = await supervisor.repair_tool_call(call, spec, grant)
    return (
        failure(problem, None)
        if repaired.value is None or not repaired.ok
        else success(CallTool(repaired.value))
    )
