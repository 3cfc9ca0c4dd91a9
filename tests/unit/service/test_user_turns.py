"""Turns of the work of each user."""

from typing import Any

import anyio
import pytest

from aeond.service.user_turns import SHARED_SECONDS, ActiveUsers, UserTurns
from tests.support.doubles import ManualClock

NEVER_SECONDS = 3_600.0


def turns(places: int, *active: int, slice_seconds: float = NEVER_SECONDS, **more: Any) -> UserTurns:
    """With these users active."""
    users = ActiveUsers(ManualClock())
    for uid in active:
        users.note(uid)
    return UserTurns(users, places=places, slice_seconds=slice_seconds, **more)


def test_a_user_counts_as_active_for_a_while() -> None:
    """A user is one among others until some time after the last call, and is not another to itself."""
    clock = ManualClock()
    users = ActiveUsers(clock)
    users.note(1)
    assert (users.has_others(1), users.has_others(2)) == (False, True)
    users.note(2)
    assert users.has_others(1)
    clock.advance(SHARED_SECONDS + 0.1)
    assert not users.has_others(1)


async def test_a_users_calls_wait_for_each_other_and_not_for_others() -> None:
    """While one user has as much work going on as may be, its next waits, and another user's begins at once."""
    users, ended, began = turns(2), anyio.Event(), []

    async def work(name: str, uid: int) -> None:
        async with users.taking(uid):
            began.append(name)
            await ended.wait()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for name in ("a1", "a2", "a3", "a4"):
                tasks.start_soon(work, name, 1)
            await anyio.wait_all_tasks_blocked()
            assert began == ["a1", "a2"]
            async with users.taking(2):
                pass
            ended.set()
    assert began == ["a1", "a2", "a3", "a4"]


@pytest.mark.parametrize("slice_seconds", [NEVER_SECONDS, 0.0], ids=["short work", "long work"])
async def test_a_flood_pauses_while_another_user_is_active(slice_seconds: float) -> None:
    """With another user around, a user with waiting work does not use a place again at once, also where the work before took
    longer than its slice; others' places are free.
    """
    users, began = turns(1, 1, 2, slice_seconds=slice_seconds, pause_seconds=NEVER_SECONDS), []

    async def work(name: str, uid: int) -> None:
        async with users.taking(uid):
            began.append(name)
            await anyio.sleep(0.001)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for name in ("a1", "a2"):
                tasks.start_soon(work, name, 1)
            await anyio.wait_all_tasks_blocked()
            for name in ("b1", "b2"):
                await work(name, 2)
            assert began == ["a1", "b1", "b2"]
            tasks.cancel_scope.cancel()


async def test_turns_for_sharing_are_not_taken_alone() -> None:
    """Where turns are for several users only, a user alone does not wait, and one of several does."""
    for active, admitted in (((1,), True), ((1, 2), False)):
        users = turns(1, *active, only_shared=True)
        entered = False
        async with users.taking(1):
            with anyio.move_on_after(0.01 if not admitted else 60):
                async with users.taking(1):
                    entered = True
        assert entered is admitted


async def test_work_that_takes_long_leaves_its_place() -> None:
    """Work that waits for a tool or a model does not block its user's other work."""
    users = turns(1, slice_seconds=0.001)
    with anyio.fail_after(60):
        async with users.taking(1), users.taking(1), users.taking(1):
            pass
        with pytest.raises(ValueError, match="broken"):
            async with users.taking(1):
                raise ValueError("broken")
        async with users.taking(1):
            pass
