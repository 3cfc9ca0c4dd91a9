"""What the kernel asks its host for. Commands are imperative; the host answers with events."""

from aeond.domain.budgets import Amounts
from aeond.domain.events import EventKind
from aeond.domain.runs import Operation
from aeond.frozen import frozen


@frozen
class Record:
    """Journal this fact; there is nothing to perform."""

    kind: EventKind


@frozen
class Operate:
    """Have the phases do this for the run as a whole, within the reservation (empty: without a model)."""

    operation: Operation
    reservation: Amounts


@frozen
class ExecuteStep:
    """Execute a ready step within the reservation. Answered by StepEnded, StepRepaired or InputRequested,
    or by ChildRunStarted and what follows it."""

    step_id: str
    reservation: Amounts


@frozen
class Interrupt:
    """Cut short what is in flight and harmless to cut; each still answers with the event that ends it."""

    step_ids: tuple[str, ...]
    operation: bool


Command = Record | Operate | ExecuteStep | Interrupt
