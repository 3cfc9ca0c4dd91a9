"""Turns of the calls of each user."""

import anyio
import pytest

from aeond.domain.runs.run import Caller, Owner
from aeond.server.user_turns import UserTurns

NEVER_SECONDS = 3_600.0


def turns(places: int, slice_seconds: float = NEVER_SECONDS, pause_seconds: float = 0.0) -> UserTurns:
    """Peers are named by their uid here."""
    return UserTurns(lambda peer: Caller(Owner(int(peer), 1)), places, slice_seconds, pause_seconds)


async def test_a_users_calls_wait_for_each_other_and_not_for_others() -> None:
    """While one user has as many calls at work as may be, its next one waits, and another user's begins at once."""
    users, ended, began = turns(2), anyio.Event(), []

    async def call(name: str, peer: str) -> None:
        async with users.taking(peer):
            began.append(name)
            await ended.wait()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for name in ("a1", "a2", "a3", "a4"):
                tasks.start_soon(call, name, "1")
            await anyio.wait_all_tasks_blocked()
            assert began == ["a1", "a2"]
            async with users.taking("2"):
                pass
            ended.set()
    assert began == ["a1", "a2", "a3", "a4"]


async def test_a_flood_pauses_while_another_user_is_active() -> None:
    """With another user around, a user with waiting calls does not use a place again at once; others' places are free."""
    users, began = turns(1, pause_seconds=NEVER_SECONDS), []

    async def call(name: str, peer: str) -> None:
        async with users.taking(peer):
            began.append(name)
            await anyio.lowlevel.checkpoint()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            await call("alone", "1")
            await call("b1", "2")
            for name in ("a1", "a2"):
                tasks.start_soon(call, name, "1")
            await anyio.wait_all_tasks_blocked()
            assert began == ["alone", "b1", "a1"]
            for name in ("b2", "b3"):
                await call(name, "2")
            assert began == ["alone", "b1", "a1", "b2", "b3"]
            tasks.cancel_scope.cancel()


async def test_a_call_that_takes_long_gives_up_its_place() -> None:
    """A call that waits for a tool or a model does not hold up its user's other calls."""
    users = turns(1, slice_seconds=0.001)
    with anyio.fail_after(60):
        async with users.taking("1"), users.taking("1"), users.taking("1"):
            pass
        with pytest.raises(ValueError, match="broken"):
            async with users.taking("1"):
                raise ValueError("broken")
        async with users.taking("1"):
            pass
