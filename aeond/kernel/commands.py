"""What the kernel asks its host for. Commands are imperative; the host answers with events."""

from dataclasses import dataclass

from aeond.domain.budgets import Amounts
from aeond.domain.events import EventKind


@dataclass(frozen=True, slots=True)
class Record:
    """Journal this fact; there is nothing to perform."""

    kind: EventKind


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """Have the request planned within the reservation. Answered by PlanAdopted or PlanningFailed."""

    reservation: Amounts


@dataclass(frozen=True, slots=True)
class ExecuteStep:
    """Execute a ready step within the reservation. Answered by StepEnded or StepRepaired."""

    step_id: str
    reservation: Amounts


@dataclass(frozen=True, slots=True)
class ComposeAnswer:
    """Have the answer composed within the reservation (empty: without a model). Answered by AnswerComposed."""

    reservation: Amounts


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Cut short what is in flight and harmless to cut; each still answers with the event that ends it."""

    step_ids: tuple[str, ...]
    operation: bool


Command = Record | DraftPlan | ExecuteStep | ComposeAnswer | Interrupt
