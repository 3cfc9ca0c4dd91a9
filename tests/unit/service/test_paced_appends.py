"""Appends of the runs of one user, beside another user."""

from collections.abc import Sequence

import anyio

from aeond.domain.runs.events import Event, EventKind, RunEnded, RunStarted
from aeond.domain.runs.run import RunState
from aeond.service.paced_appends import UNPACED_RUNS, WORKING_SECONDS, PacedAppends, RunTurns
from aeond.service.user_turns import SHARED_SECONDS, ActiveUsers
from tests.support.doubles import ManualClock

NEVER_SECONDS = 3_600.0


class SlowJournal:
    """Keeps the runs whose appends have begun; they end when `ended` is set."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended = anyio.Event()

    async def append(self, events: Sequence[Event]) -> None:
        self.begun += [event.run_id for event in events]
        await self.ended.wait()


class TwoUsers:
    """The appends of users 1 and 2, who are both active."""

    def __init__(self, pause_seconds: float) -> None:
        self.clock, self.journal = ManualClock(), SlowJournal()
        self.active = ActiveUsers(self.clock)
        self.waiting: dict[int, list[str]] = {}  # runs without a slot by uid
        self.turns = RunTurns(self.active, lambda uid: self.waiting.get(uid, []), pause_seconds=pause_seconds)
        for uid in (1, 2):
            self.active.note(uid)

    async def append(self, uid: int, run_id: str, kind: EventKind | None = None) -> None:
        event = Event(run_id, 2, 0.0, 0.0, kind or RunStarted())
        await PacedAppends(self.journal, self.turns, uid).append([event])


async def test_runs_of_a_user_with_many_append_in_turns_beside_another_user() -> None:
    """While two users are active, the fourth run of one of them waits with its append for the third, and the other
    user's run and a second run do not wait.
    """
    users = TwoUsers(pause_seconds=0.0)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for uid, run_id in ((1, "a1"), (1, "a2"), (1, "a3"), (1, "a4"), (2, "b1"), (2, "b2")):
                tasks.start_soon(users.append, uid, run_id)
            await anyio.wait_all_tasks_blocked()
            assert users.journal.begun == ["a1", "a2", "a3", "b1", "b2"]
            users.journal.ended.set()
    assert users.journal.begun[-1] == "a4"


async def test_appends_that_never_meet_are_paced_too() -> None:
    """A user whose three runs append one after the other is paced after the third until the pause has passed; another
    user's runs are not.
    """
    users = TwoUsers(pause_seconds=NEVER_SECONDS)
    users.journal.ended.set()
    with anyio.fail_after(60):
        for run_id in ("a1", "a2", "a1", "a3"):
            await users.append(1, run_id)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(users.append, 1, "a1")
            await anyio.wait_all_tasks_blocked()
            await users.append(2, "b1")
            assert users.journal.begun == ["a1", "a2", "a1", "a3", "b1"]
            tasks.cancel_scope.cancel()


async def test_pauses_end_with_the_activity_of_others() -> None:
    """Appends that wait for their turn when the other user has gone follow each other without a pause."""
    users = TwoUsers(pause_seconds=NEVER_SECONDS)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for number in range(1, 6):
                tasks.start_soon(users.append, 1, f"a{number}")
            await anyio.wait_all_tasks_blocked()
            assert users.journal.begun == ["a1", "a2", "a3"]
            users.clock.advance(SHARED_SECONDS + 0.1)
            users.journal.ended.set()
    assert users.journal.begun == ["a1", "a2", "a3", "a4", "a5"]


async def test_a_user_with_few_runs_is_not_paced() -> None:
    """Runs that append after the last ones of the same user have been quiet for a second do not wait."""
    users = TwoUsers(pause_seconds=0.5)
    users.journal.ended.set()
    with anyio.fail_after(60):
        for number in range(10):
            for run in range(UNPACED_RUNS):
                await users.append(1, f"a{number}.{run}")
            users.clock.advance(WORKING_SECONDS + 0.1)
    assert len(users.journal.begun) == 10 * UNPACED_RUNS


async def test_runs_without_a_slot_count() -> None:
    """A user with more runs than slots is paced from the first run that works, whenever it appends; another user is not."""
    users = TwoUsers(pause_seconds=NEVER_SECONDS)
    users.waiting[1] = ["a2", "a3"]
    users.journal.ended.set()
    with anyio.fail_after(60):
        await users.append(1, "a1")
        async with anyio.create_task_group() as tasks:
            users.clock.advance(WORKING_SECONDS + 0.1)
            for uid in (1, 2):
                users.active.note(uid)
            tasks.start_soon(users.append, 1, "a1")
            await anyio.wait_all_tasks_blocked()
            await users.append(2, "b1")
            assert users.journal.begun == ["a1", "b1"]
            tasks.cancel_scope.cancel()


async def test_a_run_that_works_and_waits_counts_once() -> None:
    """A run that was parked and waits for a slot again, within a second of its last append, is one run."""
    users = TwoUsers(pause_seconds=NEVER_SECONDS)
    users.waiting[1] = ["a1", "a2"]
    users.journal.ended.set()
    with anyio.fail_after(60):
        for run_id in ("a1", "a2", "a1", "a2"):
            await users.append(1, run_id)
    assert len(users.journal.begun) == 4


async def test_runs_one_after_the_other_are_not_paced() -> None:
    """A run that has ended no longer counts, so that a user may make any number of short runs one after the other."""
    users = TwoUsers(pause_seconds=NEVER_SECONDS)
    users.journal.ended.set()
    with anyio.fail_after(60):
        for number in range(10):
            await users.append(1, f"a{number}")
            await users.append(1, f"a{number}", RunEnded(RunState.SUCCEEDED))
    assert len(users.journal.begun) == 20


async def test_nothing_is_paced_while_one_user_is_active() -> None:
    """The runs of a user who is alone append at once, however many they are."""
    users = TwoUsers(pause_seconds=NEVER_SECONDS)
    users.clock.advance(SHARED_SECONDS + 0.1)
    users.journal.ended.set()
    with anyio.fail_after(60):
        for number in range(10):
            await users.append(1, f"a{number}")
    assert len(users.journal.begun) == 10
