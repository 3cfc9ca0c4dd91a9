"""Changes of steps: one function for each event of a step, and the rules that advance the other steps of the graph.

A function that takes a run raises KeyError if the step does not exist and ValueError if the ledger rejects the
amounts.
"""

from typing import Final

from aeond.domain.plans.approvals import ApprovalGrant
from aeond.domain.plans.copying import replace
from aeond.domain.plans.plan import Plan, StepState
from aeond.domain.plans.steps import StepMode, Steps, StepSnapshot
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, BudgetLedger
from aeond.domain.runs.run import Resolution, RunSnapshot
from aeond.domain.tools import Recovery
from aeond.domain.values import JsonValue

_AFTER_RESOLUTION: Final = {
    Resolution.RETRY: StepState.READY,
    Resolution.DONE: StepState.SUCCEEDED,
    Resolution.ABORT: StepState.FAILED,
}
_WAITING: Final = (StepState.PENDING, StepState.READY)
_AFTER_CRASH: Final = {
    Recovery.RERUN: StepState.READY,
    Recovery.RECONCILE: StepState.READY,
    Recovery.ASK: StepState.UNKNOWN,
}


# ---------------------------------------------------------------- events of a step


def start(run: RunSnapshot, kind: e.StepStarted) -> RunSnapshot:
    current = run.steps[kind.step.step_id]
    recovery = Recovery.RERUN if current.child else kind.recovery  # a step with a child only waits for it
    # An answer to a question belongs to the call that asked, and to nothing else that the step may do now.
    answer = current.output if kind.mode is StepMode.TOOL else None
    begun = replace(current, step=kind.step, state=StepState.RUNNING, attempt=kind.attempt, mode=kind.mode)
    begun = replace(begun, recovery=recovery, reservation=kind.reservation, pass_index=run.pass_index)
    return _with_step(run, replace(begun, output=answer), run.ledger.reserve(kind.reservation))


def repair(run: RunSnapshot, kind: e.StepRepaired) -> RunSnapshot:
    assert run.plan is not None
    current = run.steps[kind.step.step_id]
    planned = tuple(kind.step if s.step_id == current.step_id else s for s in run.plan)
    # The repaired call is another one: it asked nothing, and gets no answer.
    repaired = replace(current, step=kind.step, state=StepState.READY, output=None, reservation=Amounts())
    changed = replace(run, plan=Plan(run.plan.goal, planned))
    return _with_step(changed, repaired, run.ledger.settle(current.reservation, kind.used))


def end(run: RunSnapshot, kind: e.StepEnded) -> RunSnapshot:
    current = run.steps[kind.step_id]
    handoff = kind.handoff or current.step.handoff_to_next
    step = replace(current.step, handoff_to_next=handoff, clarity=kind.clarity)
    ended = _ended(current, kind.state, kind.output, kind.error, kind.reason)
    ended = replace(ended, step=step, mode=kind.mode, clarity=kind.clarity)
    ended = replace(ended, duration_seconds=kind.duration_seconds, model_use=kind.model_use)
    changed = replace(run, effects=(*run.effects, *kind.effects))
    return _with_step(changed, ended, run.ledger.settle(current.reservation, kind.used))


def ask(run: RunSnapshot, kind: e.InputRequested) -> RunSnapshot:
    current = run.steps[kind.question.step_id]
    asked = replace(current, question=kind.question, reservation=Amounts())
    return _with_step(run, asked, run.ledger.settle(current.reservation, kind.used))


def answer(run: RunSnapshot, kind: e.InputAnswered) -> RunSnapshot:
    asked = next(q for q in run.questions if q.question_id == kind.question_id)
    state = StepState.READY if asked.request.continues else StepState.SUCCEEDED
    return _with_step(run, _ended(run.steps[asked.step_id], state, kind.answer), run.ledger)


def hold(run: RunSnapshot, kind: e.ApprovalRequested) -> RunSnapshot:
    approval, asking = kind.approval, run.steps[kind.step_id]
    steps = {**run.steps, asking.step_id: replace(asking, state=StepState.READY, reservation=Amounts())}
    if kind.opens or approval in run.approvals:  # else it was decided meanwhile, and the step starts again
        held = (s for s in steps.values() if s.step_id in approval.step_ids and s.state in _WAITING)
        steps |= {s.step_id: replace(s, approval=approval) for s in held}
    return replace(run, steps=steps, ledger=run.ledger.settle(asking.reservation, kind.used))


def release(run: RunSnapshot, kind: e.ApprovalDecided) -> RunSnapshot:
    approval = next(a for a in run.approvals if a.approval_id == kind.approval_id)
    steps = {s.step_id: replace(s, approval=None) for s in run.steps.values() if s.approval == approval}
    if kind.approved:
        grants = (*run.grants, ApprovalGrant(approval, kind.scope))
        return replace(run, steps={**run.steps, **steps}, grants=grants)
    error, reason = kind.refusal.message, kind.refusal.reason
    denied = {s.step_id: _ended(s, StepState.FAILED, None, error, reason) for s in steps.values()}
    return replace(run, steps=advance({**run.steps, **denied}))


def start_child(run: RunSnapshot, kind: e.ChildRunStarted) -> RunSnapshot:
    current = run.steps[kind.step_id]
    ledger = run.ledger.settle(current.reservation, kind.used).reserve(kind.reservation)
    # The tool call has returned: waiting for the child is safe to interrupt and to repeat.
    waits = replace(current, child=kind.child, reservation=kind.reservation, recovery=Recovery.RERUN)
    return _with_step(run, waits, ledger)


def resolve(run: RunSnapshot, kind: e.StepResolved) -> RunSnapshot:
    if not kind.step_id:
        cancelled = kind.resolution is Resolution.ABORT
        steps = skip_waiting(run.steps, "CANCELLED") if cancelled else run.steps
        return replace(run, crashes=0, suspend_reason=None, steps=steps, cancel_requested=cancelled)
    state = _AFTER_RESOLUTION[kind.resolution]
    error = "a person aborted this step" if state is StepState.FAILED else ""
    resolved = replace(run.steps[kind.step_id], state=state, error=error, reason="ABORTED" if error else "")
    steps = advance({**run.steps, kind.step_id: resolved})
    if run.exhausted:
        steps = skip_waiting(steps, "BUDGET_EXHAUSTED")
    return replace(run, steps=steps, suspend_reason=None)


def _ended(
    current: StepSnapshot, state: StepState, output: JsonValue, error: str = "", reason: str = ""
) -> StepSnapshot:
    """The step in an end state or UNKNOWN: without reservation and without question."""
    settled = replace(current, reservation=Amounts(), question=None, approval=None)
    return replace(settled, state=state, output=output, error=error, reason=reason)


def _with_step(run: RunSnapshot, changed: StepSnapshot, ledger: BudgetLedger) -> RunSnapshot:
    steps: Steps = {**run.steps, changed.step_id: changed}
    return replace(run, steps=advance(steps) if changed.state.ended else steps, ledger=ledger)


# ---------------------------------------------------------------- the graph


def advance(steps: Steps) -> Steps:
    """Steps whose dependencies all succeeded become READY; steps with a failed one are SKIPPED, transitively.

    A missing dependency counts as failed: it will never produce a result.
    """
    changed = dict(steps)
    moved = True
    while moved:  # a plan's order need not follow its dependencies
        moved = False
        for step in [s for s in changed.values() if s.state is StepState.PENDING]:
            needed = {name: changed.get(name) for name in step.step.depends_on}
            unmet = [n for n, s in needed.items() if s is None or s.state is not StepState.SUCCEEDED]
            if not unmet:
                changed[step.step_id] = replace(step, state=StepState.READY)
            elif lost := [name for name in unmet if name not in changed or changed[name].state.ended]:
                error = f"its dependency {', '.join(lost)} gave no result"
                skipped = _ended(step, StepState.SKIPPED, None, error, reason="DEPENDENCY_FAILED")
                changed[step.step_id] = skipped
                moved = True
    return changed


def skip_waiting(steps: Steps, reason: str) -> Steps:
    """Steps that have not run, or wait for a person, are SKIPPED: nothing new starts and no question is asked."""
    waiting = (s for s in steps.values() if s.state in _WAITING or s.question is not None)
    return {**steps, **{s.step_id: _ended(s, StepState.SKIPPED, None, reason=reason) for s in waiting}}


def refined(steps: Steps, plan: Plan) -> Steps:
    """The steps of a changed plan: executed steps stay unchanged whatever the plan says; the others are as
    newly planned.

    ValueError if the plan lacks an executed step.
    """
    kept = {step.step_id: step for step in steps.values() if step.executed}
    changed = {step.step_id: kept.get(step.step_id) or StepSnapshot(step) for step in plan}
    if lost := [step_id for step_id in kept if step_id not in changed]:
        raise ValueError(f"executed steps cannot be removed: {', '.join(lost)}")
    return advance(changed)


def after_crash(run: RunSnapshot) -> Steps:
    """Running steps follow their recovery rule; an interrupted repair does not count as an attempt."""
    cut: dict[str, StepSnapshot] = {}
    for step in run.running:
        mode, state = None if step.mode is StepMode.REPAIR else step.mode, _AFTER_CRASH[step.recovery]
        cut[step.step_id] = replace(step, state=state, mode=mode, output=None, reservation=Amounts())
    return {**run.steps, **cut}
