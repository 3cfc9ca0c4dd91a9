"""What an event of a step does to its run: rules of data alone, applied by the kernel's `fold`."""

from aeond.domain import events as e
from aeond.domain.budgets import Amounts, BudgetLedger
from aeond.domain.copying import replace
from aeond.domain.plans import Plan, StepState
from aeond.domain.runs import Resolution, RunSnapshot
from aeond.domain.steps import Steps, StepSnapshot, advance, skip_waiting
from aeond.domain.tools import Recovery

StepEvent = (
    e.StepStarted
    | e.StepRepaired
    | e.StepEnded
    | e.StepResolved
    | e.InputRequested
    | e.InputAnswered
    | e.ChildRunStarted
)

_AFTER_RESOLUTION = {
    Resolution.RETRY: StepState.READY,
    Resolution.DONE: StepState.SUCCEEDED,
    Resolution.ABORT: StepState.FAILED,
}


def change_step(run: RunSnapshot, kind: StepEvent) -> RunSnapshot:
    """The run after it. KeyError when it has no such step, ValueError when the ledger does not admit it."""
    match kind:
        case e.StepStarted():
            return _start(run, kind)
        case e.StepRepaired():
            return _repair(run, kind)
        case e.StepEnded():
            return _end(run, kind)
        case e.StepResolved():
            return _resolve(run, kind)
        case e.InputRequested():
            return _ask(run, kind)
        case e.InputAnswered():
            return _answer(run, kind)
        case e.ChildRunStarted():
            return _start_child(run, kind)


def _with_step(run: RunSnapshot, changed: StepSnapshot, ledger: BudgetLedger) -> RunSnapshot:
    steps: Steps = {**run.steps, changed.step_id: changed}
    return replace(run, steps=advance(steps) if changed.state.ended else steps, ledger=ledger)


def _start(run: RunSnapshot, kind: e.StepStarted) -> RunSnapshot:
    current = run.steps[kind.step.step_id]
    recovery = Recovery.RERUN if current.child else kind.recovery  # then it begins to wait again
    started = current.begin(kind.step, kind.attempt, kind.mode, recovery, kind.reservation)
    begun = replace(started, pass_index=run.pass_index)
    return _with_step(run, begun, run.ledger.reserve(kind.reservation))


def _repair(run: RunSnapshot, kind: e.StepRepaired) -> RunSnapshot:
    assert run.plan is not None
    current = run.steps[kind.step.step_id]
    planned = tuple(kind.step if s.step_id == current.step_id else s for s in run.plan)
    repaired = replace(current, step=kind.step, state=StepState.READY, reservation=Amounts())
    changed = replace(run, plan=Plan(run.plan.goal, planned))
    return _with_step(changed, repaired, run.ledger.settle(current.reservation, kind.used))


def _end(run: RunSnapshot, kind: e.StepEnded) -> RunSnapshot:
    current = run.steps[kind.step_id]
    handoff = kind.handoff or current.step.handoff_to_next
    step = replace(current.step, handoff_to_next=handoff, clarity=kind.clarity)
    more = {
        "mode": kind.mode,
        "clarity": kind.clarity,
        "duration_seconds": kind.duration_seconds,
        "model_use": kind.model_use,
    }
    ended = current.end(kind.state, kind.output, kind.error, kind.reason, step=step, **more)
    return _with_step(run, ended, run.ledger.settle(current.reservation, kind.used))


def _ask(run: RunSnapshot, kind: e.InputRequested) -> RunSnapshot:
    current = run.steps[kind.question.step_id]
    asked = replace(current, question=kind.question, reservation=Amounts())
    return _with_step(run, asked, run.ledger.settle(current.reservation, kind.used))


def _answer(run: RunSnapshot, kind: e.InputAnswered) -> RunSnapshot:
    asked = next(q.step_id for q in run.questions if q.question_id == kind.question_id)
    return _with_step(run, run.steps[asked].end(StepState.SUCCEEDED, kind.answer), run.ledger)


def _start_child(run: RunSnapshot, kind: e.ChildRunStarted) -> RunSnapshot:
    current = run.steps[kind.step_id]
    ledger = run.ledger.settle(current.reservation, kind.used).reserve(kind.reservation)
    # The call has returned: to wait is harmless to cut and to begin again.
    waits = replace(current, child=kind.child, reservation=kind.reservation, recovery=Recovery.RERUN)
    return _with_step(run, waits, ledger)


def _resolve(run: RunSnapshot, kind: e.StepResolved) -> RunSnapshot:
    if not kind.step_id:
        cancelled = kind.resolution is Resolution.ABORT
        steps = skip_waiting(run.steps, "CANCELLED") if cancelled else run.steps
        return replace(run, crashes=0, suspend_reason=None, steps=steps, cancel_requested=cancelled)
    state = _AFTER_RESOLUTION[kind.resolution]
    error = "a person gave this step up" if state is StepState.FAILED else ""
    resolved = replace(run.steps[kind.step_id], state=state, error=error, reason="ABORTED" if error else "")
    steps = advance({**run.steps, kind.step_id: resolved})
    if run.exhausted:
        steps = skip_waiting(steps, "BUDGET_EXHAUSTED")
    return replace(run, steps=steps, suspend_reason=None)
