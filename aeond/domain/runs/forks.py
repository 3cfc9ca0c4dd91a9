"""A client's request to fork a run."""

from dataclasses import field

from aeond.domain.plans.plan import Plan
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.run import Caller, Owner
from aeond.frozen import frozen


@frozen
class ForkRequest:
    """A fork of a run. Fields that are not set keep the value of the original run."""

    run_id: str
    caller: Caller
    after_seq: int = 0  # the last event copied from the original; 0 for the first event alone
    plan: Plan | None = None
    model: str = ""
    budget: BudgetRequest = field(default_factory=BudgetRequest)
    request_id: str = ""

    @property
    def owner(self) -> Owner:
        """The owner of the fork."""
        return self.caller.owner
