"""The events of approvals; see `aeond.domain.runs.events` for what holds for every kind."""

from dataclasses import field

from aeond.domain.outcome import Problem
from aeond.domain.plans.approvals import (
    APPROVAL_DENIED,
    APPROVAL_EXPIRED,
    ApprovalRequest,
    ApprovalScope,
)
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import Owner
from aeond.frozen import frozen


@frozen
class ApprovalRequested:
    """The call of this step needs approval, and nothing of it has happened: it and the planned calls shown with it
    wait. Its cost so far is settled. The first event of an approval is about its first step; further ones say that
    a step which was in flight meanwhile waits for the same approval."""

    step_id: str
    approval: ApprovalRequest
    used: Amounts = field(default_factory=Amounts)

    @property
    def opens(self) -> bool:
        """Whether this is the first event of the approval."""
        return self.step_id == self.approval.step_ids[0]


@frozen
class ApprovalDecided:
    """The first decision about an approval. `digest` is the one that the person was shown. `expired`: nobody decided
    in time, and `owner` is empty."""

    approval_id: str
    approved: bool
    owner: Owner
    digest: str
    scope: ApprovalScope = ApprovalScope.ONCE
    expired: bool = False

    @property
    def refusal(self) -> Problem:
        """What the steps end with if it was not approved."""
        if self.expired:
            return Problem(APPROVAL_EXPIRED, "this call was not approved in time, so it was not carried out")
        return Problem(APPROVAL_DENIED, "a person did not approve this call, so it was not carried out")
