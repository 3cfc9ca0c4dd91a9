"""Signs of life."""

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import anyio
import pytest

from aeond.daemon.lifecycle.liveness import LAG_SECONDS, TICK_SECONDS, Liveness
from aeond.daemon.notify import Notifier
from aeond.errors import StoreError
from tests.support.doubles import ManualClock
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.notifications import Notifications


class ToldJournal(InMemoryJournal):
    """A journal whose probe ends as a test says."""

    error: StoreError | None = None
    hangs = False

    async def probe(self) -> None:
        if self.hangs:
            await anyio.sleep_forever()
        if self.error is not None:
            raise self.error


@dataclass
class ToldScheduler:
    """A scheduler that is where a test says."""

    idle: bool = True
    taken_up: int = 0


@dataclass
class Stage:
    """A daemon that is to be judged."""

    clock: ManualClock = field(default_factory=ManualClock)
    journal: ToldJournal = field(default_factory=ToldJournal)
    scheduler: ToldScheduler = field(default_factory=ToldScheduler)

    def __post_init__(self) -> None:
        self.liveness = Liveness(journal=self.journal, scheduler=self.scheduler, clock=self.clock)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """With the loop being watched."""
    stage = Stage()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stage.liveness.watch_loop)
        await anyio.wait_all_tasks_blocked()
        yield stage
        tasks.cancel_scope.cancel()


async def test_a_daemon_that_does_its_work_lives(stage: Stage) -> None:
    """With a loop in time, a journal that commits and nothing waiting there is no objection."""
    assert await stage.liveness.objection() == ""


async def test_a_late_loop_is_an_objection_once(stage: Stage) -> None:
    """A loop that was two seconds late objects to one sign of life, and no longer than it is late."""
    stage.clock.advance(TICK_SECONDS + LAG_SECONDS)
    await anyio.wait_all_tasks_blocked()
    assert "the event loop was 2.0 s late" in await stage.liveness.objection()
    assert await stage.liveness.objection() == ""


async def test_a_loop_that_is_hardly_late_lives(stage: Stage) -> None:
    """A second's delay is none that a watchdog need hear of."""
    stage.clock.advance(TICK_SECONDS + LAG_SECONDS / 2)
    await anyio.wait_all_tasks_blocked()
    assert await stage.liveness.objection() == ""


async def test_runs_that_are_not_started_are_an_objection(stage: Stage) -> None:
    """Runs that wait over two looks with none taken up in between mean that the scheduler hangs."""
    stage.scheduler.idle = False
    assert await stage.liveness.objection() == ""
    assert "none was started" in await stage.liveness.objection()
    stage.scheduler.taken_up += 1
    assert await stage.liveness.objection() == ""


async def test_a_scheduler_with_nothing_to_do_lives(stage: Stage) -> None:
    """A scheduler that was idle in between has not stood still."""
    for idle in (False, True, False):
        stage.scheduler.idle = idle
        assert await stage.liveness.objection() == ""


@pytest.mark.parametrize("reason", ["JOURNAL_BUSY", "JOURNAL_FAILED"])
async def test_a_journal_that_cannot_commit_is_an_objection(stage: Stage, reason: str) -> None:
    """A probe that is not committed is said in the journal's own words."""
    stage.journal.error = StoreError("it is held", reason=reason, retryable=True)
    assert await stage.liveness.objection() == "it is held"


async def test_a_full_disk_is_none(stage: Stage) -> None:
    """A writer that says that the disk is full does its work: a restart would make no room."""
    stage.journal.error = StoreError("it is full", reason="DISK_FULL", retryable=True)
    assert await stage.liveness.objection() == ""


async def test_a_writer_that_does_not_answer_is_an_objection(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe without an answer in time is an objection."""
    monkeypatch.setattr("aeond.daemon.lifecycle.liveness.PROBE_SECONDS", 0.01)
    stage.journal.hangs = True
    assert "did not commit within 0.01 s" in await stage.liveness.objection()


async def test_signs_are_given_while_nothing_objects(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """The manager hears a sign in each third of its patience, and the log why one is withheld."""
    manager = Notifications()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stage.liveness.give_signs, manager)
        await anyio.wait_all_tasks_blocked()
        assert manager.sent == ["alive"]
        stage.journal.error = StoreError("it is held", reason="JOURNAL_BUSY")
        stage.clock.advance(1.0)
        await anyio.wait_all_tasks_blocked()
        assert manager.sent == ["alive"]
        stage.journal.error = None
        stage.clock.advance(1.0)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert manager.sent == ["alive"] * 2
    (record,) = caplog.records
    assert (record.levelno, record.getMessage()) == (logging.ERROR, "no keep-alive sent: it is held")


async def test_without_a_watchdog_nothing_is_probed(stage: Stage) -> None:
    """Without a watchdog the journal is left alone."""
    stage.journal.hangs = True
    with anyio.fail_after(60):
        await stage.liveness.give_signs(Notifier())
