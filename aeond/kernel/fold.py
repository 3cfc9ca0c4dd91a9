"""What is known of a run after one more event: a pure function, the only place where state changes."""

from collections.abc import Iterable
from typing import Final

from aeond.domain import events as e
from aeond.domain.budgets import Amounts, BudgetLedger
from aeond.domain.copying import replace
from aeond.domain.plans import MAX_REFINEMENTS, Plan, StepState, fragment_of
from aeond.domain.profiles import Route
from aeond.domain.runs import Phase, PlanSource, RunSnapshot, RunState
from aeond.domain.step_changes import change_step
from aeond.domain.steps import after_crash, refined, skip_waiting
from aeond.domain.transitions import RUN_TRANSITIONS, admits
from aeond.errors import ReplayError

_PHASED: Final = 2  # the logic version since which runs are profiled and judged


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
    state = changed.state if target is None else target
    if target is RunState.RUNNING and (run.state is not target or isinstance(event.kind, e.InputRequested)):
        state = RunState.AWAITING_INPUT if changed.questions else target
    return replace(
        changed,
        seq=event.seq,
        state=state,
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
                logic_version=kind.logic_version,
                request=kind.request,
                ancestry=kind.ancestry,
                bound=kind.budget,
                ledger=BudgetLedger(kind.budget),
                phase=Phase.PROFILE if kind.logic_version >= _PHASED else Phase.PLAN,
                created_time=event.time,
            )
            return created if kind.plan is None else _adopt(created, kind.plan, PlanSource.CLIENT)
        case e.ReferencesResolved() as kind:
            settled = _settle_operation(run, kind.used)
            return replace(settled, resolved_text=kind.resolved, context=kind.context, standing=kind.standing)
        case e.RouteChosen() as kind:
            phase = Phase.ANSWER if kind.route is Route.REPLY else run.phase
            return replace(_settle_operation(run, kind.used), route=kind.route, phase=phase)
        case e.ProfileInferred() as kind:
            return replace(_settle_operation(run, kind.used), profile=kind.profile, phase=Phase.PLAN)
        case e.BudgetAdjusted() as kind:
            ledger = run.ledger.adjust(kind.budget, run.bound)
            return replace(run, ledger=ledger, profile=kind.profile or run.profile)
        case e.OperationStarted() | e.PlanningStarted() as kind:
            return replace(run, operation=kind.reservation, ledger=run.ledger.reserve(kind.reservation))
        case e.PlanAdopted() as kind:
            return _adopt(_settle_operation(run, kind.used), kind.plan, kind.source)
        case e.PlanningFailed() as kind:
            return replace(_settle_operation(run, kind.used), problem=kind.problem, phase=Phase.ANSWER)
        case e.PassStarted() as kind:
            one = Amounts(passes=1)
            ledger = run.ledger.reserve(one).settle(one, one)
            opened = replace(run, pass_index=kind.pass_index, pass_open=True, ledger=ledger)
            return replace(opened, evaluation=None)
        case e.StepStarted() | e.StepRepaired() | e.StepEnded() | e.StepResolved() as kind:
            return change_step(run, kind)
        case e.InputRequested() | e.InputAnswered() | e.ChildRunStarted() as kind:
            return change_step(run, kind)
        case e.PassEnded():
            judged = run.logic_version >= _PHASED and run.plan_source is PlanSource.MODEL
            return replace(run, pass_open=False, phase=Phase.ADAPT if judged else Phase.ANSWER)
        case e.PassEvaluated() as kind:
            settled = replace(_settle_operation(run, kind.used), evaluation=kind.evaluation)
            after = Phase.EXECUTE if run.phase is Phase.PLAN else Phase.ANSWER
            return replace(settled, phase=after) if kind.evaluation.converged else settled
        case e.PlanRefined() as kind:
            return _refine(_settle_operation(run, kind.used), kind)
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
        case e.RunEnded() as kind:
            return replace(run, state=kind.state, problem=kind.problem, phase=None, suspend_reason=None)
        case _:
            return run


def _adopt(run: RunSnapshot, plan: Plan, source: PlanSource) -> RunSnapshot:
    judged = source is PlanSource.MODEL and run.route is Route.PLAN
    phase = Phase.PLAN if judged else Phase.EXECUTE
    steps = refined(run.steps, plan)
    return replace(run, plan=plan, plan_source=source, phase=phase, steps=steps, problem=None)


def _refine(run: RunSnapshot, kind: e.PlanRefined) -> RunSnapshot:
    steps = refined(run.steps, kind.plan) if kind.applied else run.steps
    counts = {**run.refinements}
    for fragment in {fragment_of(action.step_id): None for action in kind.applied}:
        counts[fragment] = counts.get(fragment, 0) + 1
    rounds = run.refinement_count + bool(kind.applied)
    changed = replace(run, plan=kind.plan, steps=steps, refinements=counts, refinement_count=rounds)
    if run.phase is not Phase.PLAN:
        ready = any(s.state is StepState.READY for s in steps.values())
        return replace(changed, phase=Phase.EXECUTE if ready else Phase.ANSWER)
    if kind.applied and rounds < MAX_REFINEMENTS:
        return replace(changed, evaluation=None)  # judged anew
    return replace(changed, phase=Phase.EXECUTE)


def _settle_operation(run: RunSnapshot, used: Amounts) -> RunSnapshot:
    reservation = run.operation or Amounts()
    return replace(run, operation=None, ledger=run.ledger.settle(reservation, used))


def _resume(run: RunSnapshot) -> RunSnapshot:
    # One that only waited for a person was doing nothing that can have crashed the daemon.
    cut = any(s.state is StepState.RUNNING and s.question is None for s in run.steps.values())
    working = run.state is RunState.RUNNING or (run.state is RunState.AWAITING_INPUT and cut)
    crashed = working and not run.parked
    steps = after_crash(run.steps)
    if run.exhausted or run.cancel_requested:
        steps = skip_waiting(steps, "BUDGET_EXHAUSTED" if run.exhausted else "CANCELLED")
    # What was cut may have used all of its reservation: count it so.
    ledger = run.ledger.settle(run.ledger.reserved, run.ledger.reserved)
    changed = replace(run, steps=steps, ledger=ledger, operation=None, parked=False, suspend_reason=None)
    return replace(changed, crashes=run.crashes + (1 if crashed else 0))
