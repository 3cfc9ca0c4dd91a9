"""The events of child runs."""

from dataclasses import field

from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import RunState
from aeond.frozen import frozen


@frozen
class ChildRunStarted:
    """A child run is about to execute a step's subtask; its budget is reserved here.

    `used` is the cost of the step up to now.
    """

    step_id: str
    child: ChildRun
    used: Amounts = field(default_factory=Amounts)

    @property
    def key(self) -> str:
        return self.step_id

    @property
    def mode(self) -> StepMode:
        return StepMode.TOOL

    @property
    def reservation(self) -> Amounts:
        return self.child.budget.amounts


@frozen
class ChildRunEnded:
    """The child run ended and used this much of its budget; the end of the step follows."""

    step_id: str
    child_run_id: str
    state: RunState
    used: Amounts = field(default_factory=Amounts)
