"""Places that no user can occupy alone."""

import anyio
import pytest

from aeond.user_places import UserPlaces

A, B, C = 1, 2, 3


async def test_one_user_leaves_places_for_others() -> None:
    """A user at the limit waits, in the order of arrival, while others find places, until all are taken."""
    places = UserPlaces(3, 2)
    for uid in (A, A, B):
        places.acquire_nowait(uid)
    with pytest.raises(anyio.WouldBlock):
        places.acquire_nowait(A)
    with pytest.raises(anyio.WouldBlock):
        places.acquire_nowait(C)
    places.release(A)
    places.acquire_nowait(C)
    with pytest.raises(anyio.WouldBlock):
        places.acquire_nowait(A)


async def test_waiting_work_gets_its_place_in_order() -> None:
    """Work waits in the order of arrival; it is counted for its user and in all until it has its place."""
    places = UserPlaces(2, 1)
    places.acquire_nowait(A)
    order: list[int] = []

    async def work(number: int) -> None:
        async with places.taking(A):
            order.append(number)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(work, number)
            await anyio.wait_all_tasks_blocked()
            assert (places.waiting(A), places.waiting(B), places.waiting_in_all) == (3, 0, 3)
            places.release(A)
    assert order == [0, 1, 2]
    assert places.waiting_in_all == 0


async def test_a_cancelled_wait_takes_no_place() -> None:
    """Work that is cancelled while it waits, for its user's place or for one of all, leaves every place free."""
    places = UserPlaces(1, 1)
    places.acquire_nowait(A)
    for uid in (A, B):
        with anyio.move_on_after(0):
            await places.acquire(uid)
    assert places.waiting_in_all == 0
    places.release(A)
    for uid in (B, A):
        places.acquire_nowait(uid)
        places.release(uid)
