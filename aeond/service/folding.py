"""What is known of a run, from the journal alone."""

from collections.abc import Callable, Sequence
from functools import reduce

from aeond.domain.events import Event
from aeond.domain.runs import RunSnapshot
from aeond.errors import AlreadyExistsError, NotFoundError
from aeond.ports import Journal

Fold = Callable[[RunSnapshot, Event], RunSnapshot]


class RunFolding:
    """Folds a run's events, page by page."""

    def __init__(self, journal: Journal, fold: Fold) -> None:
        self._journal = journal
        self._fold = fold

    async def snapshot(self, run_id: str) -> RunSnapshot:
        """The run as its durable events tell it. NotFoundError when there is no such run, ReplayError
        when its events do not fit together."""
        snapshot = RunSnapshot(run_id)
        while page := await self._journal.read(run_id, snapshot.seq):
            for event in page:
                snapshot = self._fold(snapshot, event)
        if snapshot.seq == 0:
            raise run_not_found(run_id)
        return snapshot

    def created(self, event: Event) -> RunSnapshot:
        """The run as its first event leaves it."""
        return self._fold(RunSnapshot(event.run_id), event)

    def folded(self, events: Sequence[Event]) -> RunSnapshot:
        """The run as its first events leave it; ReplayError when they do not fit together."""
        return reduce(self._fold, events, RunSnapshot(events[0].run_id))


def request_id_reused(request_id: str, run_id: str) -> AlreadyExistsError:
    """What is raised for a request id under which this user asked for something else before."""
    return AlreadyExistsError(
        f"request id {request_id!r} stands for another request (run {run_id}): use a new id for a new request",
        reason="REQUEST_ID_REUSED",
        field="request_id",
    )


def run_not_found(run_id: str) -> NotFoundError:
    return NotFoundError(
        f"there is no run {run_id!r}: list the runs to see which there are", reason="RUN_NOT_FOUND"
    )
