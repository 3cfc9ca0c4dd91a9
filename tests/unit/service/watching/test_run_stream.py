"""Streams of runs."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import anyio
import pytest

from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.events import (
    Event,
    EventKind,
    PassEnded,
    PassStarted,
    RunCreated,
    RunEnded,
    RunStarted,
)
from aeond.domain.runs.live_updates import LiveUpdate, TextDelta
from aeond.domain.runs.run import RunRequest, RunState
from aeond.errors import InvalidInputError, NotFoundError, UnavailableError
from aeond.ports import RunSummary
from aeond.service.watching.feed import QUEUE_ITEMS, HotFeed
from aeond.service.watching.run_stream import Batch, RunWatching
from tests.support.in_memory_journal import InMemoryJournal


class Recorded:
    """A run whose events a test writes one by one, as a loop would."""

    def __init__(self) -> None:
        self.journal = InMemoryJournal()
        self.feed = HotFeed()
        self.watching = RunWatching(self.journal, self.feed)
        self.last_seq = 0

    async def happen(self, *kinds: EventKind, published: bool = True) -> None:
        events = [Event("r", self.last_seq + n, 0.0, 0.0, kind) for n, kind in enumerate(kinds, start=1)]
        await self.journal.append(events)
        self.last_seq += len(events)
        if published:
            self.feed.publish(events)

    async def begin(self) -> None:
        await self.happen(RunCreated(RunRequest("do it"), Budget()), RunStarted())

    async def passes(self, count: int) -> None:
        for number in range(1, count + 1):
            await self.happen(PassStarted(number), PassEnded(number))

    def watch(self, after_seq: int = 0) -> AsyncIterator[Batch]:
        return self.watching.watch("r", after_seq)


@pytest.fixture
async def run() -> Recorded:
    recorded = Recorded()
    await recorded.begin()
    return recorded


def seqs(items: list[Event | LiveUpdate]) -> list[int]:
    return [item.seq for item in items if isinstance(item, Event)]


async def collected(batches: AsyncIterator[Batch]) -> list[Event | LiveUpdate]:
    with anyio.fail_after(60):
        return [item async for batch in batches for item in batch]


async def test_an_ended_run_is_read_from_its_start_to_its_end(run: Recorded) -> None:
    """A watcher who comes after the end gets every event once and is done."""
    await run.passes(400)
    await run.happen(RunEnded(RunState.SUCCEEDED))
    assert seqs(await collected(run.watch())) == list(range(1, run.last_seq + 1))


async def test_a_watcher_goes_on_after_its_cursor(run: Recorded) -> None:
    """A watcher who has seen some events gets those after them and none twice."""
    await run.happen(PassStarted(1), PassEnded(1), RunEnded(RunState.SUCCEEDED))
    assert seqs(await collected(run.watch(3))) == [4, 5]


async def test_a_watcher_who_has_seen_the_end_gets_nothing_more(run: Recorded) -> None:
    """The stream of an ended run after its last event ends at once."""
    await run.happen(RunEnded(RunState.SUCCEEDED))
    assert await collected(run.watch(3)) == []


async def test_live_events_follow_recorded_ones_without_a_gap(run: Recorded) -> None:
    """A watcher who catches up while the run goes on gets every event exactly once and in order."""
    got: list[Event | LiveUpdate] = []

    async def watch() -> None:
        got.extend(await collected(run.watch()))

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        await run.passes(300)
        await run.happen(RunEnded(RunState.SUCCEEDED))
    assert seqs(got) == list(range(1, run.last_seq + 1))


async def test_a_watcher_that_stands_still_catches_up_from_the_journal(run: Recorded) -> None:
    """A client that stops reading loses no event: events that its queue could not hold are read from the
    journal.
    """
    async with aclosing(run.watching.watch("r")) as batches:
        got = list(await anext(batches))
        run.feed.update(TextDelta("r", "", "he", 0))
        await run.passes(QUEUE_ITEMS)
        await run.happen(RunEnded(RunState.SUCCEEDED))
        got += await collected(batches)
    assert seqs(got) == list(range(1, run.last_seq + 1))


async def test_events_that_were_read_before_they_were_published_come_once(run: Recorded) -> None:
    """An event that a watcher found in the journal first is not given again when it is published."""
    await run.happen(PassStarted(1), published=False)
    async with aclosing(run.watching.watch("r")) as batches:
        got = list(await anext(batches))
        run.feed.publish([got[-1]] if isinstance(got[-1], Event) else [])
        await run.happen(RunEnded(RunState.SUCCEEDED))
        got += await collected(batches)
    assert seqs(got) == [1, 2, 3, 4]


async def test_text_is_shown_between_events(run: Recorded) -> None:
    """A watcher who has caught up sees text as it is written."""
    got: list[Event | LiveUpdate] = []
    async with aclosing(run.watching.watch("r")) as batches:
        got += await anext(batches)
        async with anyio.create_task_group() as group:

            async def rest() -> None:
                got.extend(await collected(batches))

            group.start_soon(rest)
            await anyio.wait_all_tasks_blocked()
            run.feed.update(TextDelta("r", "", "hello", 0))
            await run.happen(RunEnded(RunState.SUCCEEDED))
    assert got[2] == TextDelta("r", "", "hello", 0)
    assert seqs(got) == [1, 2, 3]


async def test_the_stream_of_a_waiting_run_ends_when_the_daemon_drains(run: Recorded) -> None:
    """A daemon that stops ends its streams with DRAINING and the number to go on from."""
    async with aclosing(run.watching.watch("r")) as batches:
        await anext(batches)
        async with anyio.create_task_group() as group:
            group.start_soon(_close_when_all_wait, run.feed)
            with pytest.raises(UnavailableError, match="after sequence number 2") as raised:
                await anext(batches)
    assert raised.value.reason == "DRAINING"


async def _close_when_all_wait(feed: HotFeed) -> None:
    await anyio.wait_all_tasks_blocked()
    feed.close()


async def test_an_unknown_run_cannot_be_watched(run: Recorded) -> None:
    """Watching a run that does not exist is refused with its reason."""
    with pytest.raises(NotFoundError) as raised:
        await collected(run.watching.watch("nobody"))
    assert raised.value.reason == "RUN_NOT_FOUND"


@pytest.mark.parametrize("after_seq", [-1, 3])
async def test_a_cursor_that_the_run_has_not_reached_is_refused(run: Recorded, after_seq: int) -> None:
    """A sequence number that cannot have been received is refused by name."""
    with pytest.raises(InvalidInputError) as raised:
        await collected(run.watch(after_seq))
    assert (raised.value.reason, raised.value.field) == ("SEQ_AHEAD", "after_seq")


async def test_leaving_a_stream_leaves_nothing_behind(run: Recorded) -> None:
    """A client that goes in the middle of a stream frees its place."""
    async with aclosing(run.watching.watch("r")) as batches:
        await anext(batches)
        assert run.feed.watched_run_ids == ("r",)
    assert not run.feed.watched_run_ids


async def test_a_run_that_goes_on_is_not_looked_up_first(run: Recorded) -> None:
    """Watching a run that is at work reads its events and nothing else of it; one that has ended, or was not
    published here, is looked up."""
    looked_up: list[str] = []

    class Watched(InMemoryJournal):
        async def summary(self, run_id: str) -> RunSummary | None:
            looked_up.append(run_id)
            return await run.journal.summary(run_id)

        async def read(self, run_id: str, after_seq: int = 0, limit: int = 256) -> Sequence[Event]:
            return await run.journal.read(run_id, after_seq, limit)

    async with aclosing(RunWatching(Watched(), run.feed).watch("r")) as batches:
        assert seqs(list(await anext(batches))) == [1, 2]
    assert looked_up == []
    await run.happen(RunEnded(RunState.SUCCEEDED))
    assert seqs(await collected(RunWatching(Watched(), run.feed).watch("r"))) == [1, 2, 3]
    assert looked_up == ["r"]
