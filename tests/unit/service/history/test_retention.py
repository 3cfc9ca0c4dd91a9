"""Deletion of old runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest

from aeond.domain.runs.run import RunState
from aeond.errors import StoreError
from aeond.service.history.retention import (
    DAY_SECONDS,
    EVERY_SECONDS,
    LOOK_SECONDS,
    PATIENCE_SECONDS,
    Retention,
)
from tests.support.doubles import ManualClock
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.journals import beginning, ending
from tests.support.undo import InMemoryUndoLog

NOW = 100 * DAY_SECONDS


@dataclass
class World:
    """A retention that the test gives its time."""

    keep_days: float = 30.0
    busy: bool = False
    journal: InMemoryJournal = field(default_factory=InMemoryJournal)
    undo_log: InMemoryUndoLog = field(default_factory=InMemoryUndoLog)
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))

    @asynccontextmanager
    async def keeping(self) -> AsyncIterator[None]:
        retention = Retention(
            (self.journal, self.undo_log), self.clock, lambda: self.keep_days, lambda: self.busy
        )
        for run_id, ended_time in (("old", NOW - 40 * DAY_SECONDS), ("young", NOW - 20 * DAY_SECONDS)):
            await self.journal.append(
                [*beginning(run_id, time=ended_time), ending(run_id, 3, RunState.SUCCEEDED, time=ended_time)]
            )
        await self.journal.append(beginning("unfinished", time=NOW - 90 * DAY_SECONDS))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(retention.keep)
            await anyio.wait_all_tasks_blocked()
            yield
            tasks.cancel_scope.cancel()

    async def passes(self, seconds: float) -> None:
        """That time goes by, a minute at a time."""
        for _ in range(int(seconds / LOOK_SECONDS)):
            self.clock.advance(LOOK_SECONDS)
            await anyio.wait_all_tasks_blocked()

    async def kept(self) -> set[str]:
        return {summary.run_id for summary in await self.journal.list_runs()}


async def test_only_what_ended_long_ago_is_removed() -> None:
    """A run goes when it ended before the days that are kept; one that has not ended stays."""
    world = World()
    async with world.keeping():
        await world.passes(LOOK_SECONDS)
        assert await world.kept() == {"young", "unfinished"}
        await world.passes(EVERY_SECONDS)
        assert await world.kept() == {"young", "unfinished"}


async def test_everything_is_kept_unless_configured_otherwise() -> None:
    """With 0 days nothing is removed, and a new configuration is heeded at the next look."""
    world = World(keep_days=0)
    async with world.keeping():
        await world.passes(2 * EVERY_SECONDS)
        assert len(await world.kept()) == 3
        world.keep_days = 10
        await world.passes(2 * EVERY_SECONDS)
        assert await world.kept() == {"unfinished"}


async def test_it_waits_for_a_quiet_moment_but_not_for_ever() -> None:
    """While runs are worked on nothing is removed, for a day at most."""
    world = World(busy=True)
    async with world.keeping():
        await world.passes(EVERY_SECONDS)
        assert len(await world.kept()) == 3
        await world.passes(PATIENCE_SECONDS)
        assert await world.kept() == {"young", "unfinished"}


async def test_a_journal_that_refuses_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Runs that cannot be deleted now are deleted an hour later, and the log has the cause."""
    world = World()
    prune = world.journal.prune

    async def refuse(before_time: float) -> int:
        raise StoreError("the disk is full", reason="DISK_FULL", retryable=True)

    monkeypatch.setattr(world.journal, "prune", refuse)
    async with world.keeping():
        await world.passes(LOOK_SECONDS)
        assert "the disk is full" in caplog.text
        monkeypatch.setattr(world.journal, "prune", prune)
        await world.passes(EVERY_SECONDS)
        assert await world.kept() == {"young", "unfinished"}
