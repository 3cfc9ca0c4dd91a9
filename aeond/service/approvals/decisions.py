"""People's decisions about approvals."""

from weakref import WeakValueDictionary

import anyio

from aeond.domain.plans.approvals import ApprovalAnswer, ApprovalRequest, ApprovalScope
from aeond.domain.runs.events import ApprovalDecided
from aeond.domain.runs.run import Owner, RunSnapshot
from aeond.errors import InvalidInputError, WrongStateError
from aeond.service.folding import RunFolding
from aeond.service.runs.scheduler import RunScheduler


class ApprovalDecisions:
    """Checks a decision against what was shown and delivers it; the first decision counts."""

    def __init__(self, *, folding: RunFolding, scheduler: RunScheduler) -> None:
        self._folding = folding
        self._scheduler = scheduler
        # Equal decisions are equal events; they must be handled one at a time to know which one counted.
        self._one_by_one: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()  # by run id

    async def decide(self, run_id: str, answer: ApprovalAnswer, owner: Owner) -> RunSnapshot:
        """The run once the decision is durable.

        WrongStateError (reason NOTHING_TO_DECIDE): the approval does not exist or is not open any more.
        InvalidInputError: another digest than the one shown (DIGEST_MISMATCH, field `approval.digest`), or a scope
        that the approval does not offer (SCOPE_NOT_OFFERED, field `approval.scope`).
        """
        async with self._one_by_one.setdefault(run_id, anyio.Lock()):
            approval = _open(await self._folding.snapshot(run_id), answer)
            scope = answer.scope if answer.approved else ApprovalScope.ONCE
            decided = ApprovalDecided(answer.approval_id, answer.approved, owner, approval.digest, scope)
            try:
                await self._scheduler.deliver(run_id, decided)
            except WrongStateError as error:
                raise _not_open(run_id, answer.approval_id) from error
        return await self._folding.snapshot(run_id)


def _open(run: RunSnapshot, answer: ApprovalAnswer) -> ApprovalRequest:
    for approval in run.approvals:
        if approval.approval_id == answer.approval_id:
            _check(approval, answer)
            return approval
    raise _not_open(run.run_id, answer.approval_id)


def _check(approval: ApprovalRequest, answer: ApprovalAnswer) -> None:
    if answer.digest != approval.digest:
        raise InvalidInputError(
            "this is not the digest of what waits for approval: show it again and decide about that",
            reason="DIGEST_MISMATCH",
            field="approval.digest",
        )
    if answer.approved and answer.scope not in approval.scopes:
        offered = ", ".join(approval.scopes)
        raise InvalidInputError(
            f"this approval cannot be given for a {answer.scope}: choose one of {offered}",
            reason="SCOPE_NOT_OFFERED",
            field="approval.scope",
        )


def _not_open(run_id: str, approval_id: str) -> WrongStateError:
    return WrongStateError(
        f"approval {approval_id!r} of run {run_id} is not open: it may have been decided by another client, or"
        " expired; check with `show`",
        reason="NOTHING_TO_DECIDE",
    )
