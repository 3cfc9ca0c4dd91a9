"""The order in which waiting runs get a slot, and runs that do not get it as usual: cancelled, deleted, or not readable."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from aeond.domain.runs.budgets import Budget, BudgetRequest
from aeond.domain.runs.events import Event, RunCreated
from aeond.domain.runs.run import RunState
from aeond.errors import OverloadedError, StoreError
from aeond.service.recovery.disk_space import PROBE_SECONDS
from aeond.service.runs.run_queue import RunLimits, RunQueue
from tests.support.doubles import ScriptedTool
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.run_host import Gate
from tests.support.service_world import CALLER, ONE_STEP, World, asking

A, B, C = 1, 2, 3
NO_BOUNDS = BudgetRequest()


def queue(*runs: tuple[str, int]) -> RunQueue:
    waiting = RunQueue()
    for run_id, uid in runs:
        waiting.add(run_id, uid)
    return waiting


def taken(waiting: RunQueue) -> list[str]:
    order = []
    while (uid := waiting.next_user(lambda _: True)) is not None:
        order.append(waiting.take(uid))
    return order


def test_users_take_turns() -> None:
    """However many runs one user has queued, the others' come in between, each user's in their order."""
    waiting = queue(("a1", A), ("a2", A), ("a3", A), ("b1", B), ("c1", C), ("b2", B))
    expected = ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert list(waiting) == expected
    assert len(waiting) == 6
    assert taken(waiting) == expected
    assert (len(waiting), list(waiting)) == (0, [])


def test_a_user_without_a_place_is_passed_over() -> None:
    """The next run is that of a user who may start one."""
    waiting = queue(("a1", A), ("a2", A), ("b1", B))
    assert waiting.next_user(lambda uid: uid != A) == B
    assert waiting.next_user(lambda _: False) is None


def test_a_discarded_run_is_not_taken() -> None:
    """A discarded run gives back its place, and the other runs keep their turns."""
    waiting = queue(("a1", A), ("b1", B), ("a2", A), ("c1", C))
    assert [waiting.discard("a1", A), waiting.discard("c1", C)] == [True, True]
    assert [waiting.discard("a1", A), waiting.discard("b1", C)] == [False, False]
    assert (waiting.count(A), waiting.count(C), len(waiting)) == (1, 0, 2)
    assert taken(waiting) == ["a2", "b1"]


def test_a_user_at_the_limit_is_refused_and_others_are_not() -> None:
    """The refusal says whose limit it is and which key raises it; a run that is being created counts."""
    limits = RunLimits(waiting=4, waiting_per_user=2)
    waiting = queue(("a1", A))
    waiting.reserve(A, limits)
    assert (waiting.count(A), len(waiting)) == (2, 2)
    with pytest.raises(OverloadedError, match=r"user 1 .* runs[.]max_waiting_per_user") as raised:
        waiting.reserve(A, limits)
    assert raised.value.reason == "USER_RUNS"
    waiting.reserve(B, limits)
    waiting.reserve(C, limits)
    with pytest.raises(OverloadedError, match=r"of all users .* runs[.]max_waiting") as raised:
        waiting.reserve(C, limits)
    assert raised.value.reason == "TOO_MANY_RUNS"
    waiting.release(A)
    waiting.reserve(C, limits)


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


async def test_runs_wait_for_their_user_s_own_only_while_these_have_all_slots_of_one_user(
    tmp_path: Path,
) -> None:
    """With one slot for a user, its second run waits for its first; while the user has slots left, for those of others."""
    gate = Gate()
    world = World(
        tmp_path,
        tools={"work": ScriptedTool("work", gate.pass_through)},
        limits=RunLimits(running=2, running_per_user=1),
    )
    async with world.working():
        with anyio.fail_after(60):
            await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
            await gate.entered.wait()
            second = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
            assert list(world.scheduler.waiting_for_own(CALLER.owner.uid)) == [second.run_id]
            assert list(world.scheduler.waiting_for_own(CALLER.owner.uid + 1)) == []
            world.scheduler._limits = RunLimits(running=1, running_per_user=2)
            assert list(world.scheduler.waiting_for_own(CALLER.owner.uid)) == [second.run_id]
            world.scheduler._limits = RunLimits(
                running=2, running_per_user=2
            )  # of which another has one, say
            assert list(world.scheduler.waiting_for_own(CALLER.owner.uid)) == []
            gate.open.set()
            world.scheduler.adopt(RunLimits())
            await world.ended(second.run_id)


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
