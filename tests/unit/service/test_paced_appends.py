"""Appends of the runs of one user, in turns."""

from collections.abc import Sequence

import anyio

from aeond.domain.runs.events import Event
from aeond.service.paced_appends import PacedAppends
from aeond.service.user_turns import ActiveUsers, UserTurns
from tests.support.doubles import ManualClock


class SlowJournal:
    """Counts the appends that have begun; they end when `ended` is set."""

    def __init__(self) -> None:
        self.begun = 0
        self.ended = anyio.Event()

    async def append(self, events: Sequence[Event]) -> None:
        self.begun += 1
        await self.ended.wait()


async def test_runs_of_one_user_append_in_turns_beside_another_user() -> None:
    """While two users are active, a second run of one of them waits with its append, and the other user's run does not."""
    active, journal = ActiveUsers(ManualClock()), SlowJournal()
    for uid in (1, 2):
        active.note(uid)
    turns = UserTurns(active, places=1, slice_seconds=3_600.0, pause_seconds=0.0, only_shared=True)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for uid in (1, 1, 2):
                tasks.start_soon(PacedAppends(journal, turns, uid).append, ())
            await anyio.wait_all_tasks_blocked()
            assert journal.begun == 2
            journal.ended.set()
    assert journal.begun == 3
