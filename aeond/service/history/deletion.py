"""Deletes runs that their user no longer needs."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.runs.events import RunCreated
from aeond.errors import WrongStateError
from aeond.frozen import frozen
from aeond.ports import Journal, RunSummary
from aeond.ports.journal import RunFilter, RunRemoval, every_run
from aeond.ports.sessions import SessionStore
from aeond.service.folding import run_not_found
from aeond.service.runs.admission import Admission
from aeond.service.runs.workspaces import Workspaces

_PAGE: Final = 200


@frozen
class RunDeletion:
    """Deletes ended runs with their events, their private workspaces and the runs that they started."""

    journal: Journal
    removal: RunRemoval
    sessions: SessionStore
    workspaces: Workspaces
    admission: Admission

    async def delete(self, run_id: str) -> None:
        """Returns once that is durable.

        NotFoundError if the run does not exist. WrongStateError: it or a run below has not ended (reason RUN_NOT_ENDED),
        another run started it (RUN_HAS_PARENT), or it belongs to a session (RUN_IN_SESSION), which reads its answer and
        what tainted it.
        """
        self.admission.check()
        run = await self.journal.summary(run_id)
        if run is None:
            raise run_not_found(run_id)
        if run.parent_run_id and await self.journal.summary(run.parent_run_id) is not None:
            raise WrongStateError(
                f"run {run_id} is a part of run {run.parent_run_id}: delete that one", reason="RUN_HAS_PARENT"
            )
        created = (await self.journal.read(run_id, 0, 1))[0].kind
        assert isinstance(created, RunCreated), "no event precedes the creation of a run"
        session_id = created.request.session_id
        if session_id and await self.sessions.get(session_id) is not None:
            raise WrongStateError(
                f"run {run_id} belongs to session {session_id}: delete the session first",
                reason="RUN_IN_SESSION",
            )
        runs = [run]
        for parent in runs:  # grows as it goes
            runs += await self._children(parent.run_id)
        if not all(one.state.ended for one in runs):
            raise WrongStateError(
                f"run {run_id} has not ended: cancel it, or wait for its end", reason="RUN_NOT_ENDED"
            )
        # The run itself last: after a failure between two of them the call can be repeated.
        await self.removal.remove([one.run_id for one in reversed(runs)])
        for one in runs:
            await self.workspaces.remove_own(one.run_id)

    async def _children(self, run_id: str) -> Sequence[RunSummary]:
        """The runs that this run started; a fork only joined those that the original run had started."""
        found = every_run(self.journal, RunFilter(parent_run_id=run_id, limit=_PAGE))
        return [child async for child in found if child.parent_run_id == run_id]
