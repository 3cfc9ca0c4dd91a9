"""`fold`: the snapshot of a run after one more event. A pure function; this package alone changes state."""

from typing import Final, assert_never

from aeond.domain.plans.copying import replace
from aeond.domain.plans.plan import MAX_REFINEMENTS, Plan, StepState, fragment_of
from aeond.domain.plans.profiles import Route
from aeond.domain.policy import joined
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, BudgetLedger
from aeond.domain.runs.run import Operation, Phase, PlanSource, RunSnapshot, RunState
from aeond.errors import ReplayError
from aeond.state_machine import steps as step_rules
from aeond.state_machine.steps import after_crash, refined, skip_waiting
from aeond.state_machine.transitions import admits, state_after

_PHASED: Final = 2  # the logic version since which runs are profiled and evaluated


def fold(run: RunSnapshot, event: e.Event) -> RunSnapshot:
    """The snapshot after the event. ReplayError if the event cannot have happened to this run."""
    if event.seq != run.seq + 1 or event.run_id != run.run_id:
        raise ReplayError(f"run {run.run_id}: event {event.seq} of {event.run_id} after {run.seq}")
    if not admits(run, event.kind):
        kind = type(event.kind).__name__
        raise ReplayError(f"run {run.run_id}: {kind} in state {run.state} (event {event.seq})")
    try:
        changed = _apply(run, event)
    except (ValueError, KeyError) as error:
        raise ReplayError(f"run {run.run_id}: event {event.seq} does not fit: {error}") from error
    return replace(
        changed,
        seq=event.seq,
        state=state_after(run.state, event.kind, asking=changed.asks_person),
        changed_time=event.time,
        elapsed_seconds=event.elapsed_seconds,
    )


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
                taint=kind.taint,
                asking_tools=kind.asking_tools,
            )
            return created if kind.plan is None else _adopt(created, kind.plan, PlanSource.CLIENT)
        case e.ReferencesResolved() as kind:
            settled = _tainted(_settle_operation(run, kind.used), kind.taint)
            return replace(settled, resolved_text=kind.resolved, context=kind.context, standing=kind.standing)
        case e.RouteChosen() as kind:
            phase = Phase.ANSWER if kind.route is Route.REPLY else run.phase
            return replace(_settle_operation(run, kind.used), route=kind.route, phase=phase, shown=kind.shown)
        case e.ProfileInferred() as kind:
            return replace(_settle_operation(run, kind.used), profile=kind.profile, phase=Phase.PLAN)
        case e.BudgetAdjusted() as kind:
            ledger = run.ledger.adjust(kind.budget, run.bound)
            return replace(run, ledger=ledger, profile=kind.profile or run.profile)
        case e.OperationStarted() | e.PlanningStarted() | e.AnswerStarted() as kind:
            phase = Phase.ANSWER if kind.operation is Operation.ANSWER else run.phase
            ledger = run.ledger.reserve(kind.reservation)
            return replace(run, phase=phase, operation=kind.reservation, ledger=ledger)
        case e.PlanAdopted() as kind:
            return _adopt(_settle_operation(run, kind.used), kind.plan, kind.source)
        case e.PlanningFailed() as kind:
            return replace(_settle_operation(run, kind.used), problem=kind.problem, phase=Phase.ANSWER)
        case e.PassStarted() as kind:
            one = Amounts(passes=1)
            ledger = run.ledger.reserve(one).settle(one, one)
            return replace(run, pass_index=kind.pass_index, pass_open=True, ledger=ledger, evaluation=None)
        case e.StepStarted() as kind:
            return step_rules.start(run, kind)
        case e.StepRepaired() as kind:
            return step_rules.repair(run, kind)
        case e.StepEnded() as kind:
            return step_rules.end(_tainted(run, kind.taint), kind)
        case e.PolicyDecided() as kind:
            return _tainted(run, kind.adds)
        case e.StepResolved() as kind:
            return step_rules.resolve(run, kind)
        case e.InputRequested() as kind:
            return step_rules.ask(run, kind)
        case e.InputAnswered() as kind:
            return step_rules.answer(run, kind)
        case e.ApprovalRequested() as kind:
            return step_rules.hold(run, kind)
        case e.ApprovalDecided() as kind:
            return step_rules.release(run, kind)
        case e.ChildRunStarted() as kind:
            return step_rules.start_child(run, kind)
        case e.PassEnded():
            judged = run.logic_version >= _PHASED and run.plan_source is PlanSource.MODEL
            return replace(run, pass_open=False, phase=Phase.ADAPT if judged else Phase.ANSWER)
        case e.PassEvaluated() as kind:
            settled = replace(_settle_operation(run, kind.used), evaluation=kind.evaluation)
            after = Phase.EXECUTE if run.phase is Phase.PLAN else Phase.ANSWER
            return replace(settled, phase=after) if kind.evaluation.converged else settled
        case e.PlanRefined() as kind:
            return _refine(_settle_operation(run, kind.used), kind)
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
            return replace(run, problem=kind.problem, phase=None, suspend_reason=None)
        case e.RunStarted() | e.ChildRunEnded():
            return run
        case unknown:
            assert_never(unknown)


def _adopt(run: RunSnapshot, plan: Plan, source: PlanSource) -> RunSnapshot:
    phase = Phase.PLAN if source is PlanSource.MODEL and run.route is Route.PLAN else Phase.EXECUTE
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
        return replace(changed, evaluation=None)  # evaluated again
    return replace(changed, phase=Phase.EXECUTE)


def _tainted(run: RunSnapshot, sources: tuple[str, ...]) -> RunSnapshot:
    return replace(run, taint=joined(run.taint, sources)) if sources else run


def _settle_operation(run: RunSnapshot, used: Amounts) -> RunSnapshot:
    reservation = run.operation or Amounts()
    return replace(run, operation=None, ledger=run.ledger.settle(reservation, used))


def _resume(run: RunSnapshot) -> RunSnapshot:
    # A run that only waited for a person cannot have caused the crash.
    working = run.state is RunState.RUNNING or (run.state is RunState.AWAITING_INPUT and bool(run.running))
    steps = after_crash(run)
    if run.exhausted or run.cancel_requested:
        steps = skip_waiting(steps, "BUDGET_EXHAUSTED" if run.exhausted else "CANCELLED")
    # Interrupted work may have used its whole reservation: count all of it.
    ledger = run.ledger.settle(run.ledger.reserved, run.ledger.reserved)
    changed = replace(run, steps=steps, ledger=ledger, operation=None, parked=False, suspend_reason=None)
    return replace(changed, crashes=run.crashes + (working and not run.parked))
