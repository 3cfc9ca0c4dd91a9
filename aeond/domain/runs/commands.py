"""Commands: requests of the kernel to its host, which answers each with events."""

from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.events import (
    AnswerStarted,
    EventKind,
    OperationIntent,
    OperationStarted,
    PlanningStarted,
)
from aeond.domain.runs.run import Operation
from aeond.frozen import frozen


@frozen
class Record:
    """Journal this event; nothing else is to be done."""

    kind: EventKind


@frozen
class Operate:
    """Let the phases perform this operation for the run, within the reservation (empty: without a model)."""

    operation: Operation
    reservation: Amounts

    @property
    def intent(self) -> OperationIntent:
        """The event that records it before it is performed."""
        match self.operation:
            case Operation.PLAN:
                return PlanningStarted(self.reservation)
            case Operation.ANSWER:
                return AnswerStarted(self.reservation)
            case operation:
                return OperationStarted(operation, self.reservation)


@frozen
class ExecuteStep:
    """Execute a ready step within the reservation. Answered by StepEnded, StepRepaired or InputRequested,
    or by ChildRunStarted and what follows it."""

    step_id: str
    reservation: Amounts


@frozen
class Interrupt:
    """Cancel work in flight that is safe to cancel; each operation still ends with its event."""

    step_ids: tuple[str, ...]
    operation: bool


Command = Record | Operate | ExecuteStep | Interrupt
