"""Takes back the changes of a run and of the runs that it started."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.undo import UndoReport
from aeond.errors import WrongStateError
from aeond.ports import Journal
from aeond.ports.journal import RunFilter
from aeond.ports.undo import Undo
from aeond.service.folding import RunFolding

MAX_RUNS: Final = 1_000  # of one tree
_PAGE: Final = 200


class RunUndo:
    """Undoes ended runs."""

    def __init__(self, journal: Journal, folding: RunFolding, undo: Undo) -> None:
        self._journal = journal
        self._folding = folding
        self._undo = undo

    async def undo(self, run_id: str) -> UndoReport:
        """Takes back what the run and its child runs changed, the latest change first.

        NotFoundError if the run does not exist, WrongStateError (RUN_NOT_ENDED) if it or a run below has not
        ended.
        """
        run = await self._folding.snapshot(run_id)
        owners = [run_id]
        ended = run.state.ended
        for owner in owners:  # grows as it goes
            for child, child_ended in await self._children(owner):
                if len(owners) < MAX_RUNS:
                    owners.append(child)
                ended = ended and child_ended
        if not ended:
            raise WrongStateError(
                f"run {run_id} has not ended: cancel it, or wait for its end", reason="RUN_NOT_ENDED"
            )
        return await self._undo.undo(owners, run.request.owner.uid, run.workspace)

    async def _children(self, run_id: str) -> Sequence[tuple[str, bool]]:
        found: list[tuple[str, bool]] = []
        before = ""
        while len(found) < MAX_RUNS:
            page = await self._journal.list_runs(RunFilter(parent_run_id=run_id, before=before, limit=_PAGE))
            found += [(summary.run_id, summary.state.ended) for summary in page]
            if len(page) < _PAGE:
                break
            before = page[-1].run_id
        return found
