"""A stream of a run and all runs below it, with each run's events in order, without gaps or duplicates.

A client's position in such a stream is one sequence number per run: one for the watched run, and one for
every run below it of which the client has seen an event. A run that is not listed is shown from its first
event, unless its parent's ChildRunEnded precedes the client's position in the parent: no event of a run
follows that event, so all were shown. Events of different runs are ordered as they became known here.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import anyio

from aeond.domain.runs.events import ChildRunEnded, ChildRunStarted, Event, RunEnded
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.errors import UnavailableError
from aeond.ports import Journal
from aeond.service.watching.feed import HotFeed, Watcher
from aeond.service.watching.run_stream import Batch, summary_at


@dataclass(eq=False, slots=True)
class _Place:
    """The position of the stream in one run; `held` must wait for the end of a run below."""

    run_id: str
    cursor: int
    watcher: Watcher
    ended: bool = False
    held: Sequence[Event | LiveUpdate] = ()
    children: list[str] = field(default_factory=list)


class TreeWatching:
    """Streams trees of runs, using one page and one queue for each unfinished run of the tree."""

    def __init__(self, journal: Journal, feed: HotFeed) -> None:
        self._journal = journal
        self._feed = feed

    async def watch(
        self, run_id: str, after_seq: int, child_seqs: Mapping[str, int]
    ) -> AsyncGenerator[Batch, None]:
        """Batches as in `RunWatching.watch`, of the run and all runs below it; ends once all of them have
        ended. Raises the same errors; InvalidInputError (SEQ_AHEAD, field `child_seqs`) for a number that a
        run below has not reached.
        """
        with ExitStack() as watching:
            tree = _Tree(self._journal, self._feed, watching, child_seqs)
            await tree.enter(run_id, after_seq, "after_seq")
            while not (self._feed.closed or tree.ended):
                news = tree.wait_for_news()
                batch = await tree.next_batch()
                if batch:
                    yield batch
                elif not tree.ended:
                    await news.wait()
            if tree.ended:
                return
        raise UnavailableError(
            "the daemon is stopping: resume watching from the last received events once it is back",
            reason="DRAINING",
        )


class _Tree:
    """The positions of one stream."""

    def __init__(
        self, journal: Journal, feed: HotFeed, watching: ExitStack, child_seqs: Mapping[str, int]
    ) -> None:
        self._journal = journal
        self._feed = feed
        self._watching = watching
        self._child_seqs = child_seqs
        self._places: dict[str, _Place] = {}
        self._news = anyio.Event()

    @property
    def ended(self) -> bool:
        return all(place.ended for place in self._places.values())

    def wait_for_news(self) -> anyio.Event:
        """Waits until something new happens."""
        self._news = anyio.Event()
        return self._news

    async def enter(self, run_id: str, after_seq: int, field: str) -> None:
        """Adds a run to the stream, with the runs below it that had started and were not completely shown."""
        place = self._place(run_id, after_seq)
        summary = await summary_at(self._journal, run_id, after_seq, field)
        place.ended = summary.state.ended and after_seq == summary.last_seq
        for child_run_id in await self._begun(run_id, after_seq):
            await self._enter_child(place, child_run_id)

    async def next_batch(self) -> Batch:
        """The available items of one run, round robin; empty if no run has any."""
        for place in list(self._places.values()):
            batch = await self._advance(place)
            if batch:
                self._places[place.run_id] = self._places.pop(place.run_id)  # to the end of the queue
                return batch
        return ()

    async def _advance(self, place: _Place) -> Batch:
        """The next items of one run, up to one that another run's items must precede."""
        if place.ended:
            return ()
        items = place.held or await self._items(place)
        place.held = ()
        shown: list[Event | LiveUpdate] = []
        for index, item in enumerate(items):
            if not isinstance(item, Event):
                shown.append(item)
                continue
            if item.seq <= place.cursor:
                continue
            kind = item.kind
            if isinstance(kind, ChildRunEnded) and not await self._all_shown(kind.child_run_id):
                place.held = items[index:]
                break
            shown.append(item)
            place.cursor = item.seq
            if isinstance(kind, ChildRunStarted):
                await self._enter_child(place, kind.child.child_run_id)
                place.held = items[index + 1 :]
                break
            if isinstance(kind, RunEnded):
                place.ended = True
                for child_run_id in place.children:
                    await self._all_shown(child_run_id)
        return shown

    async def _items(self, place: _Place) -> Batch:
        watcher = place.watcher
        while True:
            if watcher.hot:
                items = watcher.take_now()
                if items or watcher.hot:
                    return items
            page = await self._journal.read(place.run_id, place.cursor)
            if page:
                return page
            watcher.go_hot(place.cursor)

    def _place(self, run_id: str, after_seq: int) -> _Place:
        watcher = self._watching.enter_context(self._feed.watch(run_id, self._wake, attends=True))
        place = self._places[run_id] = _Place(run_id, after_seq, watcher)
        return place

    def _wake(self) -> None:
        self._news.set()

    async def _enter_child(self, parent: _Place, run_id: str) -> None:
        parent.children.append(run_id)
        if run_id in self._places:
            return
        if await self._journal.summary(run_id) is None:
            self._place(run_id, 0)  # it is about to be created
        else:
            await self.enter(run_id, self._child_seqs.get(run_id, 0), "child_seqs")

    async def _all_shown(self, run_id: str) -> bool:
        """Whether a run below was shown to its end. A run that was never created counts as shown: it is not
        created any more once its parent records its end, or has ended.
        """
        place = self._places.get(run_id)
        if place is not None and not place.ended:
            place.ended = await self._journal.summary(run_id) is None
        return place is None or place.ended

    async def _begun(self, run_id: str, until_seq: int) -> Sequence[str]:
        """The child runs started by this point, without those that ended by then."""
        begun: dict[str, None] = {}
        cursor = 0
        while cursor < until_seq and (page := await self._journal.read(run_id, cursor)):
            for event in page:
                if event.seq > until_seq:
                    break
                if isinstance(event.kind, ChildRunStarted):
                    begun[event.kind.child.child_run_id] = None
                elif isinstance(event.kind, ChildRunEnded):
                    begun.pop(event.kind.child_run_id, None)
            cursor = page[-1].seq
        return tuple(begun)
