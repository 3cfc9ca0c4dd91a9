"""Transition tables: which events each state of a run and of a step admits, and the states they lead to.

`fold` refuses an event that the tables do not admit; the state diagrams in docs/architecture.md are generated
from them.
"""

from collections.abc import Mapping
from typing import Final

from aeond.domain.plans.plan import StepState
from aeond.domain.runs import events as e
from aeond.domain.runs.run import CONTINUED_BY_PERSON, Resolution, RunSnapshot, RunState, SuspendReason

_RUNNING: Final = (RunState.RUNNING,)
_AWAITING: Final = (RunState.AWAITING_INPUT,)
_BY_QUESTIONS: Final = (RunState.RUNNING, RunState.AWAITING_INPUT)  # the latter while a person is asked
_SUSPENDED: Final = (RunState.SUSPENDED,)
_ENDS: Final = tuple(state for state in RunState if state.ended)

# For each state of a run: the events it admits and the states each may lead to.
RUN_TRANSITIONS: Final[Mapping[RunState, Mapping[type, tuple[RunState, ...]]]] = {
    RunState.PENDING: {
        **dict.fromkeys((e.RunCreated, e.RunResumed, e.RunParked, e.CancelRequested), (RunState.PENDING,)),
        e.RunStarted: _RUNNING,
        e.RunSuspended: _SUSPENDED,
        e.RunEnded: (RunState.FAILED, RunState.CANCELLED),
    },
    RunState.RUNNING: {
        **dict.fromkeys(
            (e.OperationStarted, e.ReferencesResolved, e.RouteChosen, e.ProfileInferred), _RUNNING
        ),
        **dict.fromkeys((e.PlanningStarted, e.PlanAdopted, e.PlanningFailed, e.BudgetAdjusted), _RUNNING),
        **dict.fromkeys((e.PassStarted, e.PassEnded, e.PassEvaluated, e.PlanRefined), _RUNNING),
        **dict.fromkeys((e.StepStarted, e.PolicyDecided, e.StepRepaired, e.StepEnded), _RUNNING),
        **dict.fromkeys((e.ChildRunStarted, e.ChildRunEnded, e.AnswerStarted, e.AnswerComposed), _RUNNING),
        **dict.fromkeys((e.BudgetExhausted, e.CancelRequested, e.RunParked, e.RunResumed), _RUNNING),
        e.InputRequested: _AWAITING,
        e.ApprovalRequested: _BY_QUESTIONS,
        e.RunSuspended: _SUSPENDED,
        e.RunEnded: _ENDS,
    },
    RunState.AWAITING_INPUT: {  # other steps go on while a question is open
        **dict.fromkeys((e.PassStarted, e.StepStarted, e.StepRepaired, e.InputRequested), _AWAITING),
        **dict.fromkeys((e.ChildRunStarted, e.ChildRunEnded, e.PolicyDecided, e.RunParked), _AWAITING),
        **dict.fromkeys((e.InputAnswered, e.StepEnded, e.RunResumed), _BY_QUESTIONS),
        **dict.fromkeys((e.ApprovalRequested, e.ApprovalDecided), _BY_QUESTIONS),
        **dict.fromkeys((e.BudgetExhausted, e.CancelRequested), _RUNNING),  # they close all questions
        e.RunSuspended: _SUSPENDED,
        e.RunEnded: (RunState.FAILED, RunState.CANCELLED),
    },
    RunState.SUSPENDED: {
        **dict.fromkeys((e.StepResolved, e.RunResumed), _BY_QUESTIONS),
        **dict.fromkeys((e.InputAnswered, e.ApprovalDecided, e.CancelRequested), _SUSPENDED),
        e.RunEnded: (RunState.FAILED, RunState.CANCELLED),
    },
    **{state: {} for state in _ENDS},
}

# For each state of a step: the events of the step itself that it admits, and the states each may lead to.
STEP_TRANSITIONS: Final[Mapping[StepState, Mapping[type, tuple[StepState, ...]]]] = {
    StepState.PENDING: {},
    StepState.READY: {e.StepStarted: (StepState.RUNNING,)},
    StepState.RUNNING: {
        e.StepEnded: (*(s for s in StepState if s.ended), StepState.UNKNOWN),
        e.StepRepaired: (StepState.READY,),
        e.InputRequested: (StepState.RUNNING,),
        e.ApprovalRequested: (StepState.READY,),
        e.ChildRunStarted: (StepState.RUNNING,),
        e.InputAnswered: (StepState.SUCCEEDED,),
    },
    StepState.UNKNOWN: {
        e.StepResolved: (StepState.READY, StepState.SUCCEEDED, StepState.FAILED, StepState.SKIPPED),
    },
    **{state: {} for state in StepState if state.ended},
}


def state_after(state: RunState, kind: e.EventKind, *, asking: bool) -> RunState:
    """The state that an admitted event leads to; `asking` says whether a question is open after the event."""
    targets = RUN_TRANSITIONS[state][type(kind)]
    if isinstance(kind, e.RunEnded):
        return kind.state
    return targets[-1] if asking else targets[0]


def admits(run: RunSnapshot, kind: e.EventKind) -> bool:
    """Whether the tables admit this event in the present state of the run and of the step it is about."""
    targets = RUN_TRANSITIONS[run.state].get(type(kind), ())
    if not targets or (run.seq == 0) != isinstance(kind, e.RunCreated):
        return False
    match kind:
        case e.StepStarted() | e.StepRepaired():
            return _step_admits(run, kind.step.step_id, kind)
        case e.InputRequested():
            return _step_admits(run, kind.question.step_id, kind)
        case e.InputAnswered():
            return any(question.question_id == kind.question_id for question in run.questions)
        case e.ApprovalDecided():
            return (kind.approval_id, kind.digest) in ((a.approval_id, a.digest) for a in run.approvals)
        case e.RunSuspended(reason=SuspendReason.APPROVAL):
            return bool(run.approvals) and not run.in_flight and not run.startable
        case e.StepResolved(resolution=resolution, step_id=""):
            return run.suspend_reason in CONTINUED_BY_PERSON and resolution is not Resolution.DONE
        case e.ChildRunStarted() | e.StepEnded() | e.StepResolved() | e.ApprovalRequested():
            return _step_admits(run, kind.step_id, kind)
        case e.RunResumed():
            return run.suspend_reason in (None, SuspendReason.DISK_FULL, SuspendReason.APPROVAL)
        case e.CancelRequested():
            return not run.cancel_requested
        case e.RunEnded():
            return kind.state in targets
        case _:  # the state of the run alone decides
            return True


def _step_admits(run: RunSnapshot, step_id: str, kind: e.EventKind) -> bool:
    step = run.steps.get(step_id)
    targets = STEP_TRANSITIONS[step.state].get(type(kind), ()) if step is not None else ()
    return kind.state in targets if isinstance(kind, e.StepEnded) else bool(targets)
