"""Which events each state of a run and of a step admits, and where they lead.

The kernel's `fold` refuses what is not here; the state diagrams in docs/architecture.md are generated
from these tables.
"""

from collections.abc import Mapping
from typing import Final

from aeond.domain import events as e
from aeond.domain.plans import StepState
from aeond.domain.runs import Resolution, RunSnapshot, RunState, SuspendReason

# For each state of a run: the events it admits and the state each leads to; None: the event says which.
RUN_TRANSITIONS: Final[Mapping[RunState, Mapping[type, RunState | None]]] = {
    RunState.PENDING: {
        **dict.fromkeys((e.RunCreated, e.RunResumed, e.RunParked, e.CancelRequested), RunState.PENDING),
        e.RunStarted: RunState.RUNNING,
        e.RunSuspended: RunState.SUSPENDED,
        e.RunEnded: None,
    },
    RunState.RUNNING: {
        **dict.fromkeys((e.OperationStarted, e.ReferencesResolved, e.RouteChosen), RunState.RUNNING),
        **dict.fromkeys((e.ProfileInferred, e.BudgetAdjusted), RunState.RUNNING),
        **dict.fromkeys((e.PassEvaluated, e.PlanRefined), RunState.RUNNING),
        **dict.fromkeys((e.ChildRunStarted, e.ChildRunEnded), RunState.RUNNING),
        e.InputRequested: RunState.RUNNING,  # AWAITING_INPUT as long as a question is open
        **dict.fromkeys((e.PlanningStarted, e.PlanAdopted, e.PlanningFailed), RunState.RUNNING),
        **dict.fromkeys((e.PassStarted, e.StepStarted, e.StepRepaired, e.StepEnded), RunState.RUNNING),
        **dict.fromkeys((e.PassEnded, e.AnswerStarted, e.AnswerComposed), RunState.RUNNING),
        **dict.fromkeys((e.BudgetExhausted, e.CancelRequested, e.RunParked, e.RunResumed), RunState.RUNNING),
        e.RunSuspended: RunState.SUSPENDED,
        e.RunEnded: None,
    },
    # RUNNING again as soon as no question is open; other steps go on all the while.
    RunState.AWAITING_INPUT: {
        **dict.fromkeys((e.StepStarted, e.StepRepaired, e.StepEnded), RunState.RUNNING),
        **dict.fromkeys((e.InputRequested, e.InputAnswered), RunState.RUNNING),
        **dict.fromkeys((e.ChildRunStarted, e.ChildRunEnded, e.PassStarted), RunState.RUNNING),
        **dict.fromkeys((e.BudgetExhausted, e.CancelRequested, e.RunParked, e.RunResumed), RunState.RUNNING),
        e.RunSuspended: RunState.SUSPENDED,
        e.RunEnded: None,
    },
    RunState.SUSPENDED: {
        e.StepResolved: RunState.RUNNING,
        e.RunResumed: RunState.RUNNING,
        **dict.fromkeys((e.InputAnswered, e.CancelRequested), RunState.SUSPENDED),
        e.RunEnded: None,
    },
}

# For each state of a step: the events that change it, and to what.
STEP_TRANSITIONS: Final[Mapping[StepState, Mapping[type, tuple[StepState, ...]]]] = {
    StepState.PENDING: {
        e.StepEnded: (StepState.READY, StepState.SKIPPED),  # of a step it depends on
        e.BudgetExhausted: (StepState.SKIPPED,),
        e.CancelRequested: (StepState.SKIPPED,),
    },
    StepState.READY: {
        e.StepStarted: (StepState.RUNNING,),
        e.BudgetExhausted: (StepState.SKIPPED,),
        e.CancelRequested: (StepState.SKIPPED,),
    },
    StepState.RUNNING: {
        e.StepEnded: (*(s for s in StepState if s.ended), StepState.UNKNOWN),
        e.StepRepaired: (StepState.READY,),
        e.InputRequested: (StepState.RUNNING,),
        e.ChildRunStarted: (StepState.RUNNING,),
        e.InputAnswered: (StepState.SUCCEEDED,),
        e.RunResumed: (StepState.READY, StepState.UNKNOWN),  # by the tool's recovery rule
    },
    StepState.UNKNOWN: {
        e.StepResolved: (StepState.READY, StepState.SUCCEEDED, StepState.FAILED),
    },
}


def admits(run: RunSnapshot, kind: e.EventKind) -> bool:
    """Whether the tables admit an event of this kind now."""
    if type(kind) not in RUN_TRANSITIONS.get(run.state, {}) or (run.seq == 0) != isinstance(
        kind, e.RunCreated
    ):
        return False
    match kind:
        case e.StepStarted() | e.StepRepaired():
            return _step_admits(run, kind.step.step_id, kind)
        case e.InputRequested():
            return _step_admits(run, kind.question.step_id, kind)
        case e.InputAnswered():
            return any(question.question_id == kind.question_id for question in run.questions)
        case e.ChildRunStarted():
            return _step_admits(run, kind.step_id, kind)
        case e.StepEnded():
            return _step_admits(run, kind.step_id, kind, kind.state)
        case e.StepResolved(resolution=resolution, step_id=""):
            return run.suspend_reason is SuspendReason.REPEATED_CRASHES and resolution is not Resolution.DONE
        case e.StepResolved():
            return _step_admits(run, kind.step_id, kind)
        case e.RunResumed():
            return run.suspend_reason in (None, SuspendReason.DISK_FULL)
        case e.CancelRequested():
            return not run.cancel_requested
        case e.RunEnded():
            return kind.state.ended
        case _:
            return True


def _step_admits(run: RunSnapshot, step_id: str, kind: object, target: StepState | None = None) -> bool:
    if step_id not in run.steps:
        return False
    targets = STEP_TRANSITIONS.get(run.steps[step_id].state, {}).get(type(kind), ())
    return bool(targets) and (target is None or target in targets)
