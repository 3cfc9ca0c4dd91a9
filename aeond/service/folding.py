"""Computes the state of a run from the journal alone."""

from collections.abc import Callable, Sequence
from functools import reduce

from aeond.domain.runs.events import Event
from aeond.domain.runs.run import RunSnapshot
from aeond.errors import AlreadyExistsError, NotFoundError
from aeond.ports import Journal

Fold = Callable[[RunSnapshot, Event], RunSnapshot]


class RunFolding:
    """Folds a run's events, page by page."""

    def __init__(self, journal: Journal, fold: Fold) -> None:
        self._journal = journal
        self._fold = fold

    async def snapshot(self, run_id: str) -> RunSnapshot:
        """The durable state of the run. NotFoundError if the run does not exist, ReplayError if its events
        are inconsistent.
        """
        snapshot = RunSnapshot(run_id)
        while page := await self._journal.read(run_id, snapshot.seq):
            for event in page:
                snapshot = self._fold(snapshot, event)
        if snapshot.seq == 0:
            raise run_not_found(run_id)
        return snapshot

    def created(self, event: Event) -> RunSnapshot:
        """The run after its first event."""
        return self._fold(RunSnapshot(event.run_id), event)

    def folded(self, events: Sequence[Event]) -> RunSnapshot:
        """The run after these initial events; ReplayError if they are inconsistent."""
        return reduce(self._fold, events, RunSnapshot(events[0].run_id))


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
