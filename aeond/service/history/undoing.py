"""Takes back the changes of a run and of the runs that it started."""

from typing import Final

from aeond.domain.undo import UndoReport
from aeond.errors import WrongStateError
from aeond.frozen import frozen
from aeond.ports import Journal
from aeond.ports.journal import RunFilter, every_run
from aeond.ports.undo import Undo
from aeond.service.folding import RunFolding

MAX_RUNS: Final = 1_000  # of one tree
_PAGE: Final = 200


@frozen
class RunUndo:
    """Undoes ended runs."""

    journal: Journal
    folding: RunFolding
    undo_log: Undo

    async def undo(self, run_id: str) -> UndoReport:
        """Takes back what the run and its child runs changed, the latest change first.

        NotFoundError if the run does not exist, WrongStateError (RUN_NOT_ENDED) if it or a run below has not
        ended.
        """
        run = await self.folding.snapshot(run_id)
        owners = [run_id]
        ended = run.state.ended
        for owner in owners:  # grows as it goes
            async for child in every_run(self.journal, RunFilter(parent_run_id=owner, limit=_PAGE)):
                if len(owners) < MAX_RUNS:
                    owners.append(child.run_id)
                ended = ended and child.state.ended
        if not ended:
            raise WrongStateError(
                f"run {run_id} has not ended: cancel it, or wait for its end", reason="RUN_NOT_ENDED"
            )
        return await self.undo_log.undo(owners, run.request.owner.uid, run.workspace)
