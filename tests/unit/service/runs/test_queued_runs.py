"""Runs that wait for a slot and do not get it as usual: cancelled, deleted, or not readable at that time."""

from collections.abc import Sequence
from pathlib import Path

import anyio

from aeond.domain.runs.budgets import Budget, BudgetRequest
from aeond.domain.runs.events import Event, RunCreated
from aeond.domain.runs.run import RunState
from aeond.errors import StoreError
from aeond.service.recovery.disk_space import PROBE_SECONDS
from aeond.service.runs.run_queue import RunLimits
from tests.support.doubles import ScriptedTool
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.run_host import Gate
from tests.support.service_world import CALLER, ONE_STEP, World, asking

NO_BOUNDS = BudgetRequest()


class SlowToRead(InMemoryJournal):
    """A journal of which the next reads of events exceed their time limit."""

    failures = 0

    async def read(self, run_id: str, after_seq: int = 0, limit: int = 256) -> Sequence[Event]:
        if self.failures:
            self.failures -= 1
            raise StoreError("not read in time", reason="JOURNAL_STUCK", retryable=True)
        return await super().read(run_id, after_seq, limit)


async def test_a_cancelled_run_gives_back_its_place_in_the_queue(tmp_path: Path) -> None:
    """A run that is cancelled while it is queued counts no longer as waiting, so that another one is accepted."""
    gate = Gate()
    world = World(
        tmp_path,
        tools={"work": ScriptedTool("work", gate.pass_through)},
        limits=RunLimits(running=1, waiting_per_user=1),
    )
    async with world.working():
        await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            cancelled = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
            await world.runs.cancel(cancelled.run_id, CALLER, "")
            assert (await world.ended(cancelled.run_id)).state is RunState.CANCELLED
            assert world.scheduler.waiting_count == 0
            other = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
            gate.open.set()
            assert (await world.ended(other.run_id)).state is RunState.SUCCEEDED


async def test_a_run_deleted_while_it_was_queued_does_not_stop_the_others(tmp_path: Path) -> None:
    """A run that is cancelled and deleted before it gets a slot is skipped, and the run behind it is executed."""
    gate = Gate()
    world = World(
        tmp_path, tools={"work": ScriptedTool("work", gate.pass_through)}, limits=RunLimits(running=1)
    )
    async with world.working():
        await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            deleted, behind = [await world.runs.create(asking(), ONE_STEP, NO_BOUNDS) for _ in range(2)]
            await world.runs.cancel(deleted.run_id, CALLER, "")
            await world.ended(deleted.run_id)
            await world.runs.delete(deleted.run_id, CALLER)
            gate.open.set()
            assert (await world.ended(behind.run_id)).state is RunState.SUCCEEDED


async def test_a_run_that_no_longer_exists_is_not_taken_up(tmp_path: Path) -> None:
    """Nothing happens if a run has been deleted by the time that the scheduler opens it."""
    async with World(tmp_path).working() as world:
        await world.scheduler.join("deleted")
        assert world.scheduler.running_count == 0


async def test_a_run_that_cannot_be_read_now_is_tried_again(tmp_path: Path) -> None:
    """A journal that does not respond in time delays a queued run, and neither fails it nor ends the scheduler."""
    journal = SlowToRead()
    await journal.append([Event("run", 1, 0.0, 0.0, RunCreated(asking(), Budget(), ONE_STEP))])
    journal.failures = 1
    async with World(tmp_path, journal=journal).working() as world:
        with anyio.fail_after(60):
            await anyio.wait_all_tasks_blocked()
            assert (journal.failures, world.scheduler.running_count) == (0, 0)
            assert world.scheduler.out_of_room
            world.clock.advance(PROBE_SECONDS)
            assert (await world.ended("run")).state is RunState.SUCCEEDED
