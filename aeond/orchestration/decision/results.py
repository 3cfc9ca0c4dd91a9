"""The steps that ran: their output as a model reads it, whether a call repeats one of them, and how the run goes on after them or ends."""

from collections.abc import Callable, Sequence
from typing import Final

from aeond.domain.names import words_of
from aeond.domain.plans.evaluations import Evaluation, Issue, RefinementAction, RefinementOperation
from aeond.domain.plans.plan import MAX_REFINEMENTS, PlanStep, StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import Recovery, ToolCall, ToolSpec
from aeond.orchestration.context.readable_outputs import readable, report
from aeond.orchestration.context.shortening import shorten_together
from aeond.orchestration.decision.interfaces import FILE_CHANGES, CallTool, Decision, Offer, Turn
from aeond.orchestration.interfaces import Judgement
from aeond.orchestration.planning.plan_parsing import describe_call

ANSWERED: Final = "ANSWERED"
CANNOT: Final = "CANNOT"
MAX_RESULT_CHARS: Final = 12_000
MAX_FAILURES: Final = 5
_NEXT_CALL: Final = Amounts(ttl=1, tool_calls=1, passes=1)


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


def reports_of(run: RunSnapshot, changes: Callable[[ToolCall | None], bool]) -> str:
    """The reports of the successful calls for which `changes` is true, one below the other; "" if there are none."""
    steps = (step for step in executed(run) if step.state is StepState.SUCCEEDED)
    done = (step for step in steps if changes(step.step.tool_call))
    return "\n".join(report(step.output) for step in done)


def only_failed(run: RunSnapshot, changes: Callable[[ToolCall | None], bool]) -> bool:
    """Whether calls for which `changes` is true were tried, and none of them succeeded."""
    tried = [step for step in executed(run) if changes(step.step.tool_call)]
    return bool(tried) and not any(step.state is StepState.SUCCEEDED for step in tried)


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
        done = made if step.state is StepState.SUCCEEDED else None
        if done is not None and (
            _changes_again(call, done, spec) or _changes_new_file(call, done, spec, offer.tool(done.tool))
        ):
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


def _changes_new_file(call: ToolCall, made: ToolCall, spec: ToolSpec | None, maker: ToolSpec | None) -> bool:
    """Whether the call would write more into the file that a call has just made."""
    if spec is None or maker is None or not maker.new_text or spec.effect not in FILE_CHANGES:
        return False
    path = made.arguments.get(maker.new_name)
    return bool(spec.composed) and any(call.arguments.get(name) == path for name in spec.only_existing)


def going_on(run: RunSnapshot, *calls: ToolCall) -> Judgement:
    """The run goes on with these calls, one after another, as far as its budget allows."""
    left = run.ledger.left
    steps = (
        PlanStep(f"s{number}", describe_call(call), tool_call=call)
        for number, call in enumerate(calls[: min(left.ttl, left.tool_calls)], len(run.steps) + 1)
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


def repeats_request(text: str, run: RunSnapshot) -> bool:
    """Whether an answer only says the request again, as a small model does that has none. One or two words may be an answer:
    "5" for "-5", "C" for "C++"."""
    return words_of(text) == words_of(run.text) and len(words_of(text)) > 2
