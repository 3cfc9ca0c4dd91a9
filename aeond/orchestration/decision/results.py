"""The steps that ran: their output as a model reads it, plain lines instead of JSON, whether a call repeats one of them, and how the
run goes on after them or ends."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aeond.domain.plans.evaluations import Evaluation, Issue, RefinementAction, RefinementOperation
from aeond.domain.plans.plan import MAX_REFINEMENTS, PlanStep, StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import Recovery, ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue, display_json
from aeond.orchestration.context.shortening import shorten_together
from aeond.orchestration.decision.interfaces import FILE_CHANGES, CallTool, Decision, Offer, Turn
from aeond.orchestration.interfaces import Judgement
from aeond.orchestration.planning.plan_parsing import describe_call
from aeond.schemas.parts import is_list

MAX_RESULT_CHARS: Final = 12_000
MAX_FAILURES: Final = 5
_NEXT_CALL: Final = Amounts(ttl=1, tool_calls=1, passes=1)
_OF_WHOLENESS: Final = ("truncated", "next_offset", "left_out")
_MIN_ROWS: Final = 2  # of a list that is shown as a table


def executed(run: RunSnapshot) -> Sequence[StepSnapshot]:
    """The steps that ran, in the order of the plan."""
    return [step for step in run.steps.values() if step.executed]


def turns_of(steps: Sequence[StepSnapshot], result_chars: int) -> tuple[Turn, ...]:
    """The executed steps as turns, their results shortened to so many characters together."""
    calls = [step.step.tool_call or ToolCall("") for step in steps]
    results = shorten_together([result_of(step) for step in steps], result_chars)
    return tuple(Turn(call, result) for call, result in zip(calls, results, strict=True))


def results_length(steps: Sequence[StepSnapshot]) -> int:
    """How many characters all results have."""
    return sum(len(result_of(step)) for step in steps)


def result_of(step: StepSnapshot) -> str:
    if step.state is StepState.SUCCEEDED:
        return readable(step.output, step.step.tool_call)
    return f"{step.state}: {step.error or step.reason}"


def report_of(step: StepSnapshot) -> str:
    """What a step reports that succeeded, as one text with the names of what it was about."""
    if not isinstance(step.output, Mapping):
        return readable(step.output)
    return ": ".join(map(_block, _informative_parts(step.output, {}).values()))


def reports_of(run: RunSnapshot, changes: Callable[[ToolCall | None], bool]) -> str:
    """The reports of the successful calls for which `changes` is true, one below the other; "" if there are none."""
    steps = (step for step in executed(run) if step.state is StepState.SUCCEEDED)
    done = (step for step in steps if changes(step.step.tool_call))
    return "\n".join(map(report_of, done))


def readable(output: JsonValue, call: ToolCall | None = None) -> str:
    """The output as text: an object as the text or list that it holds and then `name: value` lines, or those
    alone; an argument of the call that the output repeats is left out."""
    if not isinstance(output, Mapping):
        return display_json(output)
    parts = _informative_parts(output, call.arguments if call else {})
    if not parts:
        return "done"
    if len(parts) == 1:
        return _block(next(iter(parts.values()))) or "(empty)"
    lines = [f"{name}: {_block(part)}" for name, part in parts.items() if not _is_block(part)]
    blocks = [(name, _block(part)) for name, part in parts.items() if _is_block(part)]
    if len(blocks) == 1:
        return "\n".join([blocks[0][1], f"({', '.join(lines)})"])
    return "\n".join([*lines, *(f"{name}:\n{block}" for name, block in blocks)])


def _informative_parts(output: JsonObject, arguments: JsonObject) -> dict[str, JsonValue]:
    whole = output.get("truncated") is False and not output.get("left_out")
    return {
        name: part
        for name, part in output.items()
        if not (whole and name in _OF_WHOLENESS)
        and not (name in arguments and arguments[name] == part)
        and part not in (None, "", [], ())
    }


def _is_block(part: JsonValue) -> bool:
    return (isinstance(part, str) and "\n" in part.strip()) or (is_list(part) and len(part) > 0)


def _block(part: JsonValue) -> str:
    if isinstance(part, str):
        return part.strip("\n")
    if is_list(part):
        return _table(part)
    return display_json(part)


def _table(items: Sequence[JsonValue]) -> str:
    """A list as lines: objects of one shape as a table whose first line names the columns."""
    rows = [item for item in items if isinstance(item, Mapping)]
    shapes = {tuple(row) for row in rows}
    if len(rows) == len(items) >= _MIN_ROWS and len(shapes) == 1 and len(rows[0]) > 1:
        lines = [", ".join(rows[0]), *(", ".join(map(display_json, row.values())) for row in rows)]
        return "\n".join(lines)
    if len(rows) == len(items):
        return "\n".join(", ".join(f"{k}: {display_json(v)}" for k, v in row.items()) for row in rows)
    return "\n".join(map(display_json, items))


def repetition(decision: Decision | None, run: RunSnapshot, offer: Offer) -> ToolCall | None:
    """The call that was chosen, if it was made before and no step that may have changed anything succeeded since, or if it would change
    the file that the last change was about: all changes of a file are written together, and what a small model adds to them was never
    right."""
    if not isinstance(decision, CallTool):
        return None
    call = decision.call
    spec = offer.tool(call.tool)
    for step in reversed(executed(run)):
        made = step.step.tool_call
        if made is not None and (made.tool, made.arguments) == (call.tool, call.arguments):
            return call
        if made is not None and step.state is StepState.SUCCEEDED and _changes_again(call, made, spec):
            return call
        if step.state is StepState.SUCCEEDED and step.recovery is not Recovery.RERUN:
            return None
    return None


def _changes_again(call: ToolCall, made: ToolCall, spec: ToolSpec | None) -> bool:
    """Whether the call differs from one that changed a file only in what is to be written."""
    if spec is None or call.tool != made.tool or spec.effect not in FILE_CHANGES or not spec.composed:
        return False
    of_call, of_made = (
        {k: v for k, v in one.arguments.items() if k not in spec.composed} for one in (call, made)
    )
    return bool(of_call) and of_call == of_made


def going_on(run: RunSnapshot, *calls: ToolCall) -> Judgement:
    """The run goes on with these calls, one after another."""
    steps = (
        PlanStep(f"s{number}", describe_call(call), tool_call=call)
        for number, call in enumerate(calls, len(run.steps) + 1)
    )
    actions = (
        RefinementAction(RefinementOperation.ADD, step.step_id, step, "the next call") for step in steps
    )
    return Judgement(Evaluation(run.pass_index, False, ("NEXT_STEP",)), tuple(actions))


def ended(run: RunSnapshot, reason: str, text: str = "", issues: tuple[Issue, ...] = ()) -> Judgement:
    """The run ends with this text; with none, it has converged if its last step has succeeded."""
    steps = executed(run)
    succeeded = [step for step in steps if step.state is StepState.SUCCEEDED]
    converged = bool(succeeded) and (bool(text) or steps[-1].state is StepState.SUCCEEDED)
    return Judgement(Evaluation(run.pass_index, converged, (reason,), issues, final_output=text))


def may_go_on(run: RunSnapshot) -> bool:
    """Whether another call finds budget, and the run has not failed too often."""
    failures = len(run.steps_in(StepState.FAILED, StepState.INVALID))
    return (
        not _NEXT_CALL.exceeding(run.ledger.left)
        and failures < MAX_FAILURES
        and run.refinement_count < MAX_REFINEMENTS
    )
