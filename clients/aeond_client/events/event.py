# Generated from protos/ by `make proto`; never edited.
"""An event with its kind, and the union of the kinds."""

from dataclasses import dataclass

from aeond_client.events.live_updates import Progress, Queued, TextDelta
from aeond_client.events.people import ApprovalDecided, ApprovalRequested, InputAnswered, InputRequested
from aeond_client.events.plans import (
    PassEnded,
    PassEvaluated,
    PassStarted,
    PlanAdopted,
    PlanningFailed,
    PlanningStarted,
    PlanRefined,
    ProfileInferred,
    ReferencesResolved,
    RouteChosen,
)
from aeond_client.events.runs import (
    AnswerComposed,
    AnswerStarted,
    BudgetAdjusted,
    BudgetExhausted,
    CancelRequested,
    OperationStarted,
    RunCreated,
    RunEnded,
    RunParked,
    RunResumed,
    RunStarted,
    RunSuspended,
)
from aeond_client.events.steps import (
    ChildRunEnded,
    ChildRunStarted,
    PolicyDecided,
    StepEnded,
    StepRepaired,
    StepResolved,
    StepStarted,
)


@dataclass(frozen=True, slots=True)
class UnknownKind:
    """An event for which this client has no class; `name` is its name in the contract ("" if the daemon is
    newer than the contract). It is numbered like any other event.
    """

    name: str = ""


EventKind = (
    RunCreated
    | RunStarted
    | PlanningStarted
    | PlanAdopted
    | PlanningFailed
    | PassStarted
    | StepStarted
    | StepRepaired
    | StepEnded
    | PassEnded
    | AnswerStarted
    | AnswerComposed
    | BudgetExhausted
    | CancelRequested
    | RunParked
    | RunResumed
    | RunSuspended
    | StepResolved
    | RunEnded
    | ProfileInferred
    | RouteChosen
    | ReferencesResolved
    | PassEvaluated
    | PlanRefined
    | BudgetAdjusted
    | InputRequested
    | InputAnswered
    | ChildRunStarted
    | ChildRunEnded
    | PolicyDecided
    | ApprovalRequested
    | ApprovalDecided
    | OperationStarted
    | TextDelta
    | Progress
    | Queued
    | UnknownKind
)


@dataclass(frozen=True, slots=True)
class Event:
    """An event. `seq` counts from 1 within a run; 0 marks a live update.

    `time` is Unix time in seconds, `elapsed_seconds` the run's working time so far; both are 0 if seq is 0.
    """

    run_id: str
    seq: int
    time: float
    elapsed_seconds: float
    kind: EventKind
