# Generated from protos/ by `make proto`; never edited.
"""The events of a run as its watchers receive them.

Entry point: `event.Event`.
Must not know the wire: `aeond_client.calls.reading` makes these records.

Numbered events arrive once and without gaps; the kinds of `live_updates` have no number.
"""

from aeond_client.events.event import Event, EventKind, UnknownKind
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
    Refinement,
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

__all__ = [
    "AnswerComposed",
    "AnswerStarted",
    "ApprovalDecided",
    "ApprovalRequested",
    "BudgetAdjusted",
    "BudgetExhausted",
    "CancelRequested",
    "ChildRunEnded",
    "ChildRunStarted",
    "Event",
    "EventKind",
    "InputAnswered",
    "InputRequested",
    "OperationStarted",
    "PassEnded",
    "PassEvaluated",
    "PassStarted",
    "PlanAdopted",
    "PlanRefined",
    "PlanningFailed",
    "PlanningStarted",
    "PolicyDecided",
    "ProfileInferred",
    "Progress",
    "Queued",
    "ReferencesResolved",
    "Refinement",
    "RouteChosen",
    "RunCreated",
    "RunEnded",
    "RunParked",
    "RunResumed",
    "RunStarted",
    "RunSuspended",
    "StepEnded",
    "StepRepaired",
    "StepResolved",
    "StepStarted",
    "TextDelta",
    "UnknownKind",
]
