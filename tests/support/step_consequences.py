"""The states that a step may be moved to by events of other steps and of its run."""

from collections.abc import Mapping
from typing import Final

from aeond.domain.plans.plan import StepState
from aeond.domain.runs import events as e

_SKIPPED: Final = (StepState.SKIPPED,)
_REPLANNED: Final = (StepState.PENDING, StepState.READY, StepState.SKIPPED)

STEP_CONSEQUENCES: Final[Mapping[StepState, Mapping[type, tuple[StepState, ...]]]] = {
    StepState.PENDING: {
        **dict.fromkeys((e.StepEnded, e.StepResolved), (StepState.READY, StepState.SKIPPED)),
        e.InputAnswered: (StepState.READY,),
        e.ApprovalDecided: (StepState.FAILED, StepState.SKIPPED),
        **dict.fromkeys((e.PlanAdopted, e.PlanRefined), _REPLANNED),
        **dict.fromkeys((e.BudgetExhausted, e.CancelRequested, e.RunResumed), _SKIPPED),
    },
    StepState.READY: {
        e.ApprovalDecided: (StepState.FAILED,),
        **dict.fromkeys((e.PlanAdopted, e.PlanRefined), _REPLANNED),
        **dict.fromkeys((e.BudgetExhausted, e.CancelRequested, e.RunResumed, e.StepResolved), _SKIPPED),
    },
    StepState.RUNNING: {  # SKIPPED: it waited for a person
        **dict.fromkeys((e.BudgetExhausted, e.CancelRequested, e.StepResolved), _SKIPPED),
        e.RunResumed: (StepState.READY, StepState.UNKNOWN, StepState.SKIPPED),  # by its recovery rule
    },
    StepState.SKIPPED: dict.fromkeys((e.PlanAdopted, e.PlanRefined), _REPLANNED),
}
