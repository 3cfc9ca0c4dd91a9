"""Computes the state of a run from the journal alone."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final

from aeond.domain.runs.events import Event
from aeond.domain.runs.run import Caller, RunSnapshot
from aeond.errors import AlreadyExistsError, NotFoundError, ReplayError, StoreError
from aeond.ports import Journal

MAX_NOTED_RUNS: Final = 4_096
CORRUPT: Final = "JOURNAL_CORRUPT"

Fold = Callable[[RunSnapshot, Event], RunSnapshot]


class RunFolding:
    """Folds a run's events, page by page."""

    def __init__(self, journal: Journal, fold: Fold) -> None:
        self._journal = journal
        self._fold = fold

    async def snapshot(self, run_id: str) -> RunSnapshot:
        """The durable state of the run. NotFoundError if the run does not exist, ReplayError if its events
        are inconsistent or (reason JOURNAL_CORRUPT) cannot be read.
        """
        snapshot = RunSnapshot(run_id)
        while page := await self._read(run_id, snapshot.seq):
            for event in page:
                snapshot = self._fold(snapshot, event)
        if snapshot.seq == 0:
            raise run_not_found(run_id)
        return snapshot

    async def _read(self, run_id: str, after_seq: int) -> Sequence[Event]:
        try:
            return await self._journal.read(run_id, after_seq)
        except StoreError as error:
            if error.reason != CORRUPT:
                raise
            raise ReplayError(error.message, reason=CORRUPT) from error  # other runs may be readable

    def folded(self, events: Sequence[Event]) -> RunSnapshot:
        """The run after these initial events; ReplayError if they are inconsistent."""
        return reduce(self._fold, events, RunSnapshot(events[0].run_id))


class RunOwners:
    """Tells a caller's runs from those of others. The owner of a run never changes, so those of recent runs are kept."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._uids: dict[str, int] = {}

    def note(self, run: RunSnapshot) -> None:
        """Keeps the owner of a run that is in the journal."""
        self._uids[run.run_id] = run.request.owner.uid
        if len(self._uids) > MAX_NOTED_RUNS:
            del self._uids[next(iter(self._uids))]

    async def check(self, run_id: str, caller: Caller) -> None:
        """NotFoundError (reason RUN_NOT_FOUND), in the words for a run that does not exist, unless the caller sees it."""
        uid = self._uids.get(run_id)
        if uid is None and (summary := await self._journal.summary(run_id)) is not None:
            uid = summary.uid
        if uid is None or not caller.sees(uid):
            raise run_not_found(run_id)


def request_id_reused(request_id: str, run_id: str) -> AlreadyExistsError:
    """The error for a request id that this user has used for a different request."""
    return AlreadyExistsError(
        f"request id {request_id!r} was used for another request (run {run_id}): use a new id for a new"
        " request",
        reason="REQUEST_ID_REUSED",
        field="request_id",
    )


def run_not_found(run_id: str) -> NotFoundError:
    return NotFoundError(
        f"run {run_id!r} does not exist: list the runs to see the existing ones", reason="RUN_NOT_FOUND"
    )
