"""A stream of a run: a cursor over the journal that continues into what happens now."""

from collections.abc import AsyncGenerator, Sequence

from aeond.domain.events import Event, LiveUpdate, RunEnded
from aeond.errors import InvalidInputError, UnavailableError
from aeond.ports import Journal, RunSummary
from aeond.service.feed import HotFeed, Watcher
from aeond.service.folding import run_not_found

Batch = Sequence[Event | LiveUpdate]


class RunWatching:
    """Streams runs. One page and one queue per watcher is all the memory it takes."""

    def __init__(self, journal: Journal, feed: HotFeed) -> None:
        self._journal = journal
        self._feed = feed

    async def watch(self, run_id: str, after_seq: int = 0) -> AsyncGenerator[Batch, None]:
        """Every event after `after_seq`, each once and in order, in batches of what is at hand; live
        updates among them once the watcher has caught up.

        Ends after RunEnded; the stream of a run that waits stays open. Raises NotFoundError for a run
        that does not exist, InvalidInputError for a sequence number that the run has not reached, and
        UnavailableError (reason DRAINING) when the daemon stops: the number of the last event received
        is where to go on from.
        """
        cursor = after_seq
        with self._feed.watch(run_id) as watcher:
            head = self._feed.head(run_id)
            if head == 0 or not 0 <= cursor <= head:
                summary = await summary_at(self._journal, run_id, cursor, "after_seq")
                if summary.state.ended and cursor == summary.last_seq:
                    return
                head = summary.last_seq
            while not self._feed.closed:
                batch = _after(cursor, await self._next(watcher, run_id, cursor, head))
                if not batch:
                    continue
                cursor = max(cursor, *(item.seq for item in batch if isinstance(item, Event)), 0)
                yield batch
                if any(isinstance(item, Event) and isinstance(item.kind, RunEnded) for item in batch):
                    return
        raise UnavailableError(
            f"the daemon is stopping: watch again after sequence number {cursor} once it is back",
            reason="DRAINING",
        )

    async def _next(self, watcher: Watcher, run_id: str, cursor: int, head: int) -> Batch:
        """What comes after the cursor: a page while there is one, then what happens.

        `head` is how far the run had come when the watcher registered; what came since it knows itself.
        So a page that reaches both is the last one, and a run that goes on quickly is not chased through
        the journal.
        """
        if watcher.hot:
            return await watcher.take()
        page = await self._journal.read(run_id, cursor)
        reached = page[-1].seq if page else cursor
        if not page or reached >= head:
            watcher.go_hot(reached)
        return page


async def summary_at(journal: Journal, run_id: str, cursor: int, field: str) -> RunSummary:
    """How far the run has come; InvalidInputError for that field if no watcher can be at this cursor."""
    summary = await journal.summary(run_id)
    if summary is None:
        raise run_not_found(run_id)
    if not 0 <= cursor <= summary.last_seq:
        raise InvalidInputError(
            f"run {run_id!r} has reached event {summary.last_seq}: watch after that one or an earlier one",
            reason="SEQ_AHEAD",
            field=field,
        )
    return summary


def _after(cursor: int, batch: Batch) -> Batch:
    """The batch without events that the watcher has: a page and the queue may overlap."""
    return tuple(item for item in batch if not isinstance(item, Event) or item.seq > cursor)
