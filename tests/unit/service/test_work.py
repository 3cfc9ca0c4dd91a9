"""What the scheduler has in hand."""

from pathlib import Path

import anyio

from aeond.domain.budgets import Budget, BudgetRequest
from aeond.domain.events import CancelRequested, Event, RunCreated
from aeond.service.work import Work, is_recorded
from tests.support.service_world import ONE_STEP, USER, World, asking


async def test_what_was_handed_in_is_seen_once_it_is_durable(tmp_path: Path) -> None:
    """It is found in the journal behind the event that it came after; a loop that ended without it says no."""
    async with World(tmp_path).working() as world:
        run = await world.runs.create(asking(), ONE_STEP, BudgetRequest())
        with anyio.fail_after(10):
            ended = await world.ended(run.run_id)
        work = Work(world.make_loop(ended))
        work.done.set()
        events = await world.journal.read(run.run_id)
        with world.feed.watch(run.run_id) as watcher, anyio.fail_after(10):
            last = events[-1]
            assert await is_recorded(world.journal, watcher, work, last.seq - 1, last.kind)
            assert not await is_recorded(world.journal, watcher, work, last.seq, last.kind)
            assert not await is_recorded(world.journal, watcher, work, 0, CancelRequested(USER))


async def test_parked_work_says_so(tmp_path: Path) -> None:
    """Putting a run aside is known before its loop has ended."""
    world = World(tmp_path)
    created = Event("run", 1, 0.0, 0.0, RunCreated(asking(), Budget(), ONE_STEP))
    await world.journal.append([created])
    work = Work(world.make_loop(await world.folding.snapshot("run")))
    before = work.parking
    work.park()
    assert (before, work.parking) == (False, True)
    with anyio.fail_after(10):
        assert (await work.loop.execute()).parked
