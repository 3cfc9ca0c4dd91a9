"""Which runs are worked on."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.runs.budgets import Budget, BudgetRequest
from aeond.domain.runs.events import (
    CancelRequested,
    Event,
    PassEnded,
    RunCreated,
    RunParked,
    RunResumed,
    StepStarted,
)
from aeond.domain.runs.live_updates import Queued
from aeond.domain.runs.run import Owner, Resolution, RunState, SuspendReason
from aeond.domain.tools import Effect, ToolCall
from aeond.errors import NotFoundError, OverloadedError, StoreError, UnavailableError, WrongStateError
from aeond.service.recovery.disk_space import PROBE_SECONDS
from aeond.service.runs.run_queue import RunLimits
from tests.support.doubles import ScriptedTool
from tests.support.full_journal import FullDisk
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.run_host import Gate
from tests.support.service_world import CALLER, ONE_STEP, USER, World, asking

NO_BOUNDS = BudgetRequest()


def gated(world: World, effect: Effect = Effect.PURE) -> Gate:
    """Makes the world's tool wait."""
    gate = Gate()
    world.tools["work"] = ScriptedTool("work", gate.pass_through, effect)
    return gate


async def test_a_created_run_is_worked_on_to_its_end(tmp_path: Path) -> None:
    """A run that is admitted ends by itself."""
    async with World(tmp_path).working() as world:
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            run = await world.ended(created.run_id)
    assert run.state is RunState.SUCCEEDED


async def test_only_so_many_runs_are_worked_on_at_once(tmp_path: Path) -> None:
    """Runs beyond the limit wait for a place, in their order, which their watchers see."""
    world = World(tmp_path, limits=RunLimits(running=1, waiting=8))
    gate = gated(world)
    async with world.working():
        runs = [await world.runs.create(asking(), ONE_STEP, NO_BOUNDS) for _ in range(3)]
        with anyio.fail_after(60):
            await gate.entered.wait()
            assert (world.scheduler.running_count, world.scheduler.waiting_count) == (1, 2)
            assert (await world.runs.get(runs[1].run_id, CALLER)).state is RunState.PENDING
            places = [world.feed.live_state(run.run_id) for run in runs]
            assert places == [[], [Queued(runs[1].run_id, 0)], [Queued(runs[2].run_id, 1)]]
            gate.open.set()
            for run in runs:
                assert (await world.ended(run.run_id)).state is RunState.SUCCEEDED
    assert [call.run_id for call in world.tools["work"].calls] == [run.run_id for run in runs]


async def test_higher_limits_let_waiting_runs_begin(tmp_path: Path) -> None:
    """With more places than before, runs that waited are taken up at once."""
    world = World(tmp_path, limits=RunLimits(running=1, waiting=8))
    gate = gated(world)
    async with world.working():
        runs = [await world.runs.create(asking(), ONE_STEP, NO_BOUNDS) for _ in range(2)]
        with anyio.fail_after(60):
            await gate.entered.wait()
            assert world.scheduler.idle
            world.scheduler.adopt(RunLimits(running=2, waiting=8))
            await anyio.wait_all_tasks_blocked()
            assert (world.scheduler.running_count, world.scheduler.taken_up) == (len(runs), 2)
            gate.open.set()


async def test_too_many_waiting_runs_are_refused(tmp_path: Path) -> None:
    """A full queue refuses a new run with a hint when to try again, and journals nothing of it."""
    world = World(tmp_path, limits=RunLimits(running=1, waiting=1))
    gate = gated(world)
    async with world.working():
        await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
        await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with pytest.raises(OverloadedError) as raised:
            await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
    assert raised.value.reason == "TOO_MANY_RUNS"
    assert raised.value.retry_after_seconds > 0
    assert len(await world.journal.list_runs()) == 2


async def test_a_creation_goes_on_without_the_client(tmp_path: Path) -> None:
    """A client that goes while its run is being created leaves a run that is worked on."""
    async with World(tmp_path).working() as world:
        async with anyio.create_task_group() as group:
            group.start_soon(world.runs.create, asking(), ONE_STEP, NO_BOUNDS)
            while not world.scheduler.waiting_count:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        with anyio.fail_after(60):
            assert (await world.ended("id-0001")).state is RunState.SUCCEEDED


async def test_a_daemon_that_starts_refuses_work(tmp_path: Path) -> None:
    """Before the daemon is open, new work is refused as STARTING."""
    world = World(tmp_path)
    async with world.scheduler:
        with pytest.raises(UnavailableError) as raised:
            await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
    assert raised.value.reason == "STARTING"


async def test_a_running_run_is_cancelled(tmp_path: Path) -> None:
    """Cancelling an active run interrupts work without effects and ends it, and the request is durable."""
    world = World(tmp_path)
    gate = gated(world)
    async with world.working():
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            assert (await world.runs.cancel(created.run_id, CALLER, "enough")).cancel_requested
            assert (await world.ended(created.run_id)).state is RunState.CANCELLED


async def test_a_waiting_run_is_cancelled_at_once(tmp_path: Path) -> None:
    """A run that waits for a place ends by its cancellation without waiting for one."""
    world = World(tmp_path, limits=RunLimits(running=1, waiting=8))
    gate = gated(world)
    async with world.working():
        await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            waiting = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
            await world.runs.cancel(waiting.run_id, CALLER, "")
            assert (await world.ended(waiting.run_id)).state is RunState.CANCELLED


async def test_nothing_is_delivered_to_a_run_that_does_not_exist(tmp_path: Path) -> None:
    """A request for an unknown run is rejected."""
    async with World(tmp_path).working() as world:
        with pytest.raises(NotFoundError):
            await world.scheduler.deliver("nobody", CancelRequested(USER))


async def test_a_delivery_that_the_state_does_not_admit_is_refused(tmp_path: Path) -> None:
    """A run that has ended rejects requests and stays inactive."""
    async with World(tmp_path).working() as world:
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await world.ended(created.run_id)
            with pytest.raises(WrongStateError):
                await world.scheduler.deliver(created.run_id, CancelRequested(USER))


async def test_a_drain_parks_runs_and_the_next_daemon_goes_on(tmp_path: Path) -> None:
    """An orderly stop cuts what is harmless, and the next daemon finishes the run."""
    world = World(tmp_path)
    gate = gated(world)
    async with world.working():
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            assert await world.scheduler.drain(5) == 0
        with pytest.raises(UnavailableError, match="stopping"):
            await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
    kinds = [type(event.kind) for event in await world.journal.read(created.run_id)]
    assert kinds[-1] is RunParked
    gate.open.set()
    async with world.reborn().working() as reborn:
        with anyio.fail_after(60):
            run = await reborn.ended(created.run_id)
    assert (run.state, run.crashes) == (RunState.SUCCEEDED, 0)


async def test_a_drain_waits_for_a_step_with_effects(tmp_path: Path) -> None:
    """A step that changes the world ends before an orderly stop does."""
    world = World(tmp_path)
    gate = gated(world, Effect.EXEC_HOST)
    async with world.working():
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            async with anyio.create_task_group() as group:
                group.start_soon(world.scheduler.drain, 60)
                await anyio.wait_all_tasks_blocked()
                assert world.scheduler.running_count == 1
                gate.open.set()
    run = await world.folding.snapshot(created.run_id)
    assert run.parked
    assert run.steps["s1"].state is StepState.SUCCEEDED


async def test_a_drain_does_not_wait_for_ever(tmp_path: Path) -> None:
    """A step with effects that does not end is cut off at the limit and shown as UNKNOWN afterwards."""
    world = World(tmp_path)
    gate = gated(world, Effect.EXEC_HOST)
    async with world.working():
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            assert await world.scheduler.drain(0) == 1
    async with world.reborn().working() as reborn:
        with anyio.fail_after(60):
            run = await reborn.reached(created.run_id, RunState.SUSPENDED)
        assert run.steps["s1"].state is StepState.UNKNOWN
        assert len(world.tools["work"].calls) == 1


@pytest.mark.parametrize(
    ("resolution", "state", "calls"),
    [
        (Resolution.RETRY, RunState.SUCCEEDED, 2),
        (Resolution.DONE, RunState.SUCCEEDED, 1),
        (Resolution.ABORT, RunState.FAILED, 1),
    ],
)
async def test_a_person_decides_about_an_unknown_step(
    tmp_path: Path, resolution: Resolution, state: RunState, calls: int
) -> None:
    """A person's decision about an interrupted step is applied once."""
    world = World(tmp_path)
    gate = gated(world, Effect.EXEC_HOST)
    async with world.working():
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            await world.scheduler.drain(0)
    gate.open.set()
    async with world.reborn().working() as reborn:
        with anyio.fail_after(60):
            await reborn.reached(created.run_id, RunState.SUSPENDED)
            await reborn.runs.decide(created.run_id, "s1", resolution, CALLER)
            run = await reborn.ended(created.run_id)
            with pytest.raises(WrongStateError) as raised:
                await reborn.runs.decide(created.run_id, "s1", resolution, CALLER)
    assert run.state is state
    assert len(world.tools["work"].calls) == calls
    assert raised.value.reason == "NOTHING_TO_DECIDE"


async def test_a_run_that_waits_for_a_person_is_left_alone_at_start(tmp_path: Path) -> None:
    """A new daemon does not touch a run that only a person can move on, and counts it."""
    world = World(tmp_path)
    gate = gated(world, Effect.EXEC_HOST)
    async with world.working():
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            await world.scheduler.drain(0)
    async with world.reborn().working() as second:
        with anyio.fail_after(60):
            before = await second.reached(created.run_id, RunState.SUSPENDED)
    async with world.reborn().working() as third:
        await anyio.wait_all_tasks_blocked()
        assert third.scheduler.attention_count == 1
        assert (await third.runs.get(created.run_id, CALLER)).seq == before.seq


async def test_a_full_disk_suspends_and_room_resumes(tmp_path: Path) -> None:
    """A run that a full disk stopped goes on by itself once there is room."""
    journal = FullDisk(room=2)  # the creation and the first turn
    world = World(tmp_path, journal=journal)
    async with world.working():
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            run = await world.reached(created.run_id, RunState.SUSPENDED)
            assert run.suspend_reason is SuspendReason.DISK_FULL
            await anyio.wait_all_tasks_blocked()
            assert world.scheduler.out_of_room
            world.clock.advance(PROBE_SECONDS)
            await anyio.wait_all_tasks_blocked()
            assert world.scheduler.out_of_room
            journal.room = 1_000
            world.clock.advance(PROBE_SECONDS)
            assert (await world.ended(created.run_id)).state is RunState.SUCCEEDED
    assert not world.scheduler.out_of_room


async def test_a_disk_too_full_to_say_so_is_waited_for_too(tmp_path: Path) -> None:
    """A run that could not even be suspended for want of room goes on once there is some."""
    journal = FullDisk(room=2)
    world = World(tmp_path, journal=journal)
    gate = gated(world)
    async with world.working():
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
            journal.room = -1
            gate.open.set()
            await anyio.wait_all_tasks_blocked()
            assert world.scheduler.out_of_room
            journal.room = 1_000
            world.clock.advance(PROBE_SECONDS)
            assert (await world.ended(created.run_id)).state is RunState.SUCCEEDED


async def test_a_journal_that_failed_ends_the_scheduler(tmp_path: Path) -> None:
    """When nothing can be recorded any more, the scheduler ends with an error."""

    class Broken(InMemoryJournal):
        async def append(self, events: Sequence[Event]) -> None:
            raise StoreError("the disk does not answer", reason="JOURNAL_FAILED")

    world = World(tmp_path, journal=Broken())
    with pytest.RaisesGroup(StoreError, flatten_subgroups=True):
        async with world.working():
            with pytest.raises(StoreError):
                await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
            await anyio.sleep_forever()


async def test_a_run_that_cannot_be_resumed_is_reported(tmp_path: Path) -> None:
    """A run whose events do not fit together is left as it is and named, and others go on."""
    world = World(tmp_path)
    async with world.scheduler:
        world.admission.open()
        await world.scheduler.drain(0)
    reborn = world.reborn()
    created = (await _created_but_broken(reborn)).run_id
    async with reborn.working():
        other = await reborn.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            assert (await reborn.ended(other.run_id)).state is RunState.SUCCEEDED
    assert len(reborn.scheduler.refused) == 1
    assert created in reborn.scheduler.refused[0]


async def _created_but_broken(world: World) -> Event:
    """A run in the journal whose second event cannot follow its first."""
    first = Event("broken", 1, 0.0, 0.0, RunCreated(asking(), Budget()))
    await world.journal.append([first, Event("broken", 2, 0.0, 0.0, PassEnded(1))])
    return first


async def test_a_crash_is_resumed_from_the_journal(tmp_path: Path) -> None:
    """A run whose daemon died goes on: finished steps are not run again, harmless cut ones are."""
    world = World(tmp_path)
    gate = Gate()
    world.tools["first"] = ScriptedTool("first")
    world.tools["work"] = ScriptedTool("work", gate.pass_through)
    plan = Plan(
        "two steps",
        (
            PlanStep("s1", "before", ToolCall("first", {})),
            PlanStep("s2", "after", ToolCall("work", {}), depends_on=("s1",)),
        ),
    )
    async with world.working():
        created = await world.runs.create(asking(), plan, NO_BOUNDS)
        with anyio.fail_after(60):
            await gate.entered.wait()
    gate.open.set()
    async with world.reborn().working() as reborn:
        with anyio.fail_after(60):
            run = await reborn.ended(created.run_id)
    events = await world.journal.read(created.run_id)
    assert run.state is RunState.SUCCEEDED
    assert run.crashes == 1
    assert len(world.tools["first"].calls) == 1
    assert len(world.tools["work"].calls) == 2
    assert sum(isinstance(event.kind, RunResumed) for event in events) == 1
    assert [e.kind.attempt for e in events if isinstance(e.kind, StepStarted)] == [1, 1, 2]


async def test_one_user_leaves_places_for_others(tmp_path: Path) -> None:
    """A user with as many active runs as one user may have waits, while another user's run, created last, begins."""
    world = World(tmp_path, limits=RunLimits(running=3, running_per_user=2))
    gate = gated(world)
    async with world.working():
        mine = [await world.runs.create(asking(), ONE_STEP, NO_BOUNDS) for _ in range(4)]
        theirs = await world.runs.create(replace(asking(), owner=Owner(5, 1)), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            await world.reached(theirs.run_id, RunState.RUNNING)
            assert (world.scheduler.running_count, world.scheduler.waiting_count) == (3, 2)
            assert (await world.runs.get(mine[2].run_id, CALLER)).state is RunState.PENDING
            gate.open.set()
            for run in (*mine, theirs):
                assert (await world.ended(run.run_id)).state is RunState.SUCCEEDED
