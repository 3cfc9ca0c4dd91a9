"""The run boundary."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import anyio
import pytest

from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import Event, RunEnded, StepEnded
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.errors import StoreError
from aeond.ports import ProgressSink, RunLoop
from aeond.service.recovery.disk_space import PROBE_SECONDS
from aeond.service.recovery.run_boundary import RunBoundary
from aeond.service.watching.feed import HotFeed
from tests.support.doubles import ManualClock
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.service_world import ONE_STEP, NumberedIds, World, asking
from tests.support.strategy import run_of


class Broken:
    """A planner with a bug."""

    async def draft(self, snapshot: RunSnapshot, grant: object, on_progress: ProgressSink) -> object:
        raise ZeroDivisionError("a bug")


class LockedAt(InMemoryJournal):
    """A journal that another program locks when the first event of a kind is appended, until `locked` is cleared."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self.kind = kind
        self.locked = False
        self.met = False

    async def append(self, events: Sequence[Event]) -> None:
        if not self.met and any(isinstance(event.kind, self.kind) for event in events):
            self.met = self.locked = True
        await self.probe()
        await super().append(events)

    async def probe(self) -> None:
        if self.locked:
            raise StoreError("another program has locked it", reason="JOURNAL_BUSY", retryable=True)


class BrokenLoop:
    """A run's loop that fails outside all task groups."""

    snapshot = run_of()

    async def execute(self) -> RunSnapshot:
        raise ZeroDivisionError("a bug")


async def test_a_bug_outside_the_tasks_of_a_run_does_not_leave_it(caplog: pytest.LogCaptureFixture) -> None:
    """An error that no task group of the run has caught does not leave the boundary; the log has it."""
    boundary = RunBoundary(journal=InMemoryJournal(), feed=HotFeed(), clock=ManualClock(), ids=NumberedIds())
    assert await boundary.execute(cast("RunLoop", BrokenLoop())) is None
    assert "ZeroDivisionError: a bug" in caplog.text


async def test_a_bug_ends_its_run_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A run whose own code breaks ends FAILED under an error id that the log has; others go on."""
    world = World(tmp_path)
    world.planner = Broken()  # type: ignore[assignment]  # it breaks, which no planner is allowed to
    async with world.working():
        broken = await world.runs.create(asking("plan this"), None, BudgetRequest())
        whole = await world.runs.create(asking(), ONE_STEP, BudgetRequest())
        with anyio.fail_after(60):
            failed = await world.ended(broken.run_id)
            assert (await world.ended(whole.run_id)).state is RunState.SUCCEEDED
    assert failed.state is RunState.FAILED
    assert failed.problem is not None
    assert failed.problem.reason == "INTERNAL"
    (record,) = [record for record in caplog.records if record.exc_info]
    assert vars(record)["run_id"] == broken.run_id
    assert vars(record)["error_id"] in failed.problem.message


async def test_a_locked_journal_delays_a_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A run whose journal another program has locked continues once it is unlocked; this is no internal error."""
    journal = LockedAt(StepEnded)
    async with World(tmp_path, journal=journal).working() as world:
        with anyio.fail_after(60):
            created = await world.runs.create(asking(), ONE_STEP, BudgetRequest())
            await anyio.wait_all_tasks_blocked()
            assert (journal.locked, world.scheduler.running_count) == (True, 0)
            world.clock.advance(PROBE_SECONDS)
            await anyio.wait_all_tasks_blocked()
            journal.locked = False
            world.clock.advance(PROBE_SECONDS)
            assert (await world.ended(created.run_id)).state is RunState.SUCCEEDED
    assert [record for record in caplog.records if record.exc_info] == []


async def test_the_end_of_a_broken_run_is_recorded_once_the_journal_is_unlocked(tmp_path: Path) -> None:
    """A run that an internal error ends while its journal is locked does not stay RUNNING."""
    journal = LockedAt(RunEnded)
    world = World(tmp_path, journal=journal)
    world.planner = Broken()  # type: ignore[assignment]  # it breaks, which no planner is allowed to
    async with world.working():
        with anyio.fail_after(60):
            broken = await world.runs.create(asking("plan this"), None, BudgetRequest())
            await anyio.wait_all_tasks_blocked()
            assert (journal.locked, world.scheduler.out_of_room) == (True, True)
            journal.locked = False
            world.clock.advance(PROBE_SECONDS)
            ended = await world.ended(broken.run_id)
    assert ended.problem is not None
    assert (ended.state, ended.problem.reason) == (RunState.FAILED, "INTERNAL")
