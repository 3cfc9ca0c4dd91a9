"""A stream of a run: a cursor over the journal that continues with live events."""

from collections.abc import AsyncGenerator, Sequence

from aeond.domain.runs.events import Event, RunEnded
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.errors import InvalidInputError, UnavailableError
from aeond.ports import Journal, RunSummary
from aeond.service.folding import run_not_found
from aeond.service.watching.feed import HotFeed, Watcher

Batch = Sequence[Event | LiveUpdate]


class RunWatching:
    """Streams runs. Each watcher uses one page and one queue of memory."""

    def __init__(self, journal: Journal, feed: HotFeed) -> None:
        self._journal = journal
        self._feed = feed

    async def watch(self, run_id: str, after_seq: int = 0) -> AsyncGenerator[Batch, None]:
        """Every event after `after_seq`, once and in order, in batches of the events available, interleaved
        with live updates once the watcher has caught up.

        Ends after RunEnded; the stream of a waiting run stays open. Raises NotFoundError if the run does not
        exist, InvalidInputError for a sequence number that the run has not reached, and UnavailableError
        (reason DRAINING) when the daemon stops: resume from the number of the last event received.
        """
        cursor = after_seq
        with self._feed.watch(run_id, attends=True) as watcher:
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
            f"the daemon is stopping: resume watching after sequence number {cursor} once it is back",
            reason="DRAINING",
        )

    async def _next(self, watcher: Watcher, run_id: str, cursor: int, head: int) -> Batch:
        """The items after the cursor: a page of the journal while there is one, then live events.

        `head` is the position of the run when the watcher registered; the watcher itself receives all later
        events. A page that reaches both is the last one, so a fast run is not followed through the journal.
        """
        if watcher.hot:
            return await watcher.take()
        page = await self._journal.read(run_id, cursor)
        reached = page[-1].seq if page else cursor
        if not page or reached >= head:
            watcher.go_hot(reached)
        return page


async def summary_at(journal: Journal, run_id: str, cursor: int, field: str) -> RunSummary:
    """The position of the run; InvalidInputError for that field if the cursor is invalid."""
    summary = await journal.summary(run_id)
    if summary is None:
        raise run_not_found(run_id)
    if not 0 <= cursor <= summary.last_seq:
        raise InvalidInputError(
            f"run {run_id!r} has reached event {summary.last_seq}: watch from that or an earlier event",
            reason="SEQ_AHEAD",
            field=field,
        )
    return summary


def _after(cursor: int, batch: Batch) -> Batch:
    """The batch without events that the watcher already has: a page and the queue may overlap."""
    return tuple(item for item in batch if not isinstance(item, Event) or item.seq > cursor)
