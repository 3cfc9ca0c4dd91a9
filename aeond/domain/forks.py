"""What a client asks for when it forks a run."""

from dataclasses import field

from aeond.domain.budgets import BudgetRequest
from aeond.domain.plans import Plan
from aeond.domain.runs import Owner
from aeond.frozen import frozen


@frozen
class ForkRequest:
    """A fork of a run: what is left out stays as it was in the run that is forked."""

    run_id: str
    owner: Owner
    after_seq: int = 0  # the last event of the shared past; 0 for the first one alone
    plan: Plan | None = None
    model: str = ""
    budget: BudgetRequest = field(default_factory=BudgetRequest)
    request_id: str = ""
