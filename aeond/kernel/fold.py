"""What is known of a run after one more event: a pure function, the only place where state changes."""

from collections.abc import Iterable
from dataclasses import replace

from aeond.domain import events as e
from aeond.domain.budgets import Amounts, BudgetLedger
from aeond.domain.plans import Plan, StepState
from aeond.domain.runs import Phase, PlanSource, Resolution, RunSnapshot, RunState
from aeond.domain.steps import StepSnapshot, advance, after_crash, skip_waiting
from aeond.domain.transitions import RUN_TRANSITIONS, admits
from aeond.errors import ReplayError

_AFTER_RESOLUTION = {
    Resolution.RETRY: StepState.READY,
    Resolution.DONE: StepState.SUCCEEDED,
    Resolution.ABORT: StepState.FAILED,
}


def fold(run: RunSnapshot, event: e.Event) -> RunSnapshot:
    """The snapshot after the event. ReplayError when the event cannot have happened to this run."""
    if event.seq != run.seq + 1 or event.run_id != run.run_id:
        raise ReplayError(f"run {run.run_id}: event {event.seq} of {event.run_id} after {run.seq}")
    if not admits(run, event.kind):
        raise ReplayError(
            f"run {run.run_id}: {type(event.kind).__name__} in state {run.state} (event {event.seq})"
        )
    target = RUN_TRANSITIONS[run.state][type(event.kind)]
    try:
        changed = _apply(run, event)
    except (ValueError, KeyError) as error:
        raise ReplayError(f"run {run.run_id}: event {event.seq} does not fit: {error}") from error
    return replace(
        changed,
        seq=event.seq,
        state=changed.state if target is None else target,
        changed_time=event.time,
        elapsed_seconds=event.elapsed_seconds,
    )


def fold_all(run: RunSnapshot, events: Iterable[e.Event]) -> RunSnapshot:
    for event in events:
        run = fold(run, event)
    return run


def _apply(run: RunSnapshot, event: e.Event) -> RunSnapshot:
    match event.kind:
        case e.RunCreated() as kind:
            created = replace(
                run,
                request=kind.request,
                ledger=BudgetLedger(kind.budget),
                phase=Phase.PLAN,
                created_time=event.time,
            )
            return created if kind.plan is None else _adopt(created, kind.plan, PlanSource.CLIENT)
        case e.PlanningStarted() as kind:
            return replace(run, operation=kind.reservation, ledger=run.ledger.reserve(kind.reservation))
        case e.PlanAdopted() as kind:
            return _adopt(_settle_operation(run, kind.used), kind.plan, kind.source)
        case e.PlanningFailed() as kind:
            return replace(_settle_operation(run, kind.used), problem=kind.problem, phase=Phase.ANSWER)
        case e.PassStarted() as kind:
            one = Amounts(passes=1)
            ledger = run.ledger.reserve(one).settle(one, one)
            return replace(run, pass_index=kind.pass_index, pass_open=True, ledger=ledger)
        case e.StepStarted() as kind:
            return _start_step(run, kind)
        case e.StepRepaired() as kind:
            return _repair_step(run, kind)
        case e.StepEnded() as kind:
            return _end_step(run, kind)
        case e.PassEnded():
            return replace(run, pass_open=False, phase=Phase.ANSWER)
        case e.AnswerStarted() as kind:
            ledger = run.ledger.reserve(kind.reservation)
            return replace(run, phase=Phase.ANSWER, operation=kind.reservation, ledger=ledger)
        case e.AnswerComposed() as kind:
            return replace(_settle_operation(run, kind.used), answer=kind.answer)
        case e.BudgetExhausted() as kind:
            return replace(run, exhausted=kind.dimension, steps=skip_waiting(run.steps, "BUDGET_EXHAUSTED"))
        case e.CancelRequested():
            return replace(run, cancel_requested=True, steps=skip_waiting(run.steps, "CANCELLED"))
        case e.RunParked():
            return replace(run, parked=True)
        case e.RunResumed():
            return _resume(run)
        case e.RunSuspended() as kind:
            return replace(run, suspend_reason=kind.reason)
        case e.StepResolved() as kind:
            return _resolve(run, kind)
        case e.RunEnded() as kind:
            return replace(run, state=kind.state, problem=kind.problem, phase=None, suspend_reason=None)
        case _:
            return run


def _adopt(run: RunSnapshot, plan: Plan, source: PlanSource) -> RunSnapshot:
    steps = {step.step_id: StepSnapshot(step) for step in plan}
    return replace(run, plan=plan, plan_source=source, phase=Phase.EXECUTE, steps=advance(steps))


def _settle_operation(run: RunSnapshot, used: Amounts) -> RunSnapshot:
    reservation = run.operation or Amounts()
    return replace(run, operation=None, ledger=run.ledger.settle(reservation, used))


def _start_step(run: RunSnapshot, kind: e.StepStarted) -> RunSnapshot:
    started = replace(
        run.steps[kind.step.step_id],
        step=kind.step,
        state=StepState.RUNNING,
        attempt=kind.attempt,
        mode=kind.mode,
        recovery=kind.recovery,
        reservation=kind.reservation,
    )
    steps = {**run.steps, started.step_id: started}
    return replace(run, steps=steps, ledger=run.ledger.reserve(kind.reservation))


def _repair_step(run: RunSnapshot, kind: e.StepRepaired) -> RunSnapshot:
    assert run.plan is not None
    current = run.steps[kind.step.step_id]
    planned = tuple(kind.step if s.step_id == current.step_id else s for s in run.plan)
    repaired = replace(current, step=kind.step, state=StepState.READY, reservation=Amounts())
    return replace(
        run,
        plan=replace(run.plan, steps=planned),
        steps={**run.steps, repaired.step_id: repaired},
        ledger=run.ledger.settle(current.reservation, kind.used),
    )


def _end_step(run: RunSnapshot, kind: e.StepEnded) -> RunSnapshot:
    current = run.steps[kind.step_id]
    ended = replace(
        current,
        step=replace(
            current.step, handoff_to_next=kind.handoff or current.step.handoff_to_next, clarity=kind.clarity
        ),
        state=kind.state,
        mode=kind.mode,
        output=kind.output,
        error=kind.error,
        reason=kind.reason,
        clarity=kind.clarity,
        duration_seconds=kind.duration_seconds,
        reservation=Amounts(),
    )
    steps = {**run.steps, kind.step_id: ended}
    return replace(run, steps=advance(steps), ledger=run.ledger.settle(current.reservation, kind.used))


def _resume(run: RunSnapshot) -> RunSnapshot:
    crashed = run.state is RunState.RUNNING and not run.parked
    steps = after_crash(run.steps)
    if run.exhausted or run.cancel_requested:
        steps = skip_waiting(steps, "BUDGET_EXHAUSTED" if run.exhausted else "CANCELLED")
    # What was cut may have used all of its reservation: count it so.
    ledger = run.ledger.settle(run.ledger.reserved, run.ledger.reserved)
    changed = replace(run, steps=steps, ledger=ledger, operation=None, parked=False, suspend_reason=None)
    return replace(changed, crashes=run.crashes + (1 if crashed else 0))


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
