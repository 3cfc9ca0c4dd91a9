"""Runs that wait for room on the disk."""

import anyio
import pytest

from aeond.errors import AeondError, OverloadedError, StoreError
from aeond.service.recovery.disk_space import PROBE_SECONDS, DiskSpaceWait
from tests.support.doubles import ManualClock
from tests.support.in_memory_journal import InMemoryJournal


class FullJournal(InMemoryJournal):
    """A journal whose disk is full until a test says otherwise."""

    error: AeondError | None = StoreError("no room", reason="DISK_FULL")

    async def probe(self) -> None:
        if self.error is not None:
            raise self.error


async def pass_by(clock: ManualClock, seconds: float) -> None:
    for moment in (0.0, seconds):
        clock.advance(moment)
        for _ in range(10):
            await anyio.lowlevel.checkpoint()


async def test_runs_go_on_once_there_is_room() -> None:
    """As long as the disk is full nothing is freed; then all are, the oldest first, and once."""
    journal, clock = FullJournal(), ManualClock()
    waiting = DiskSpaceWait(journal, clock)
    freed: list[tuple[str, int]] = []
    for run_id in ("b", "a", "c"):
        waiting.add(run_id, 1000)
    waiting.discard("c")
    async with anyio.create_task_group() as group:
        group.start_soon(waiting.watch, lambda *run: freed.append(run))
        await pass_by(clock, PROBE_SECONDS)
        assert (len(waiting), freed) == (2, [])
        journal.error = None
        await pass_by(clock, PROBE_SECONDS)
        await pass_by(clock, PROBE_SECONDS)
        group.cancel_scope.cancel()
    assert (len(waiting), freed) == (0, [("a", 1000), ("b", 1000)])


@pytest.mark.parametrize(
    "error",
    [StoreError("locked", reason="JOURNAL_BUSY"), OverloadedError("many", reason="JOURNAL_OVERLOADED")],
)
async def test_a_busy_journal_is_probed_again(error: AeondError) -> None:
    """A journal that is locked or overloaded at a probe is probed again later."""
    journal, clock = FullJournal(), ManualClock()
    journal.error = error
    waiting = DiskSpaceWait(journal, clock)
    freed: list[str] = []
    waiting.add("a", 1000)
    async with anyio.create_task_group() as group:
        group.start_soon(waiting.watch, lambda run_id, _: freed.append(run_id))
        await pass_by(clock, PROBE_SECONDS)
        assert freed == []
        journal.error = None
        await pass_by(clock, PROBE_SECONDS)
        group.cancel_scope.cancel()
    assert freed == ["a"]


async def test_a_journal_that_is_lost_ends_the_watch() -> None:
    """When nothing can be written any more, waiting for room is over."""
    journal, clock = FullJournal(), ManualClock()
    journal.error = StoreError("no room", reason="JOURNAL_FAILED")
    waiting = DiskSpaceWait(journal, clock)
    waiting.add("a", 1000)
    with pytest.raises(ExceptionGroup) as raised:
        async with anyio.create_task_group() as group:
            group.start_soon(waiting.watch, lambda *_: None)
            await pass_by(clock, PROBE_SECONDS)
    assert raised.group_contains(StoreError, match="no room")
