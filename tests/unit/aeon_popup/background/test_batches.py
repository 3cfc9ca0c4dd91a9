"""Batches of happenings."""

import asyncio

import anyio

from aeon_popup.background.batches import FRAME_SECONDS, MOST_AT_ONCE, MOST_WAITING, Batches
from aeon_popup.state.happenings import Happening, HistoryFailed


class Received:
    """Batches as they arrive, and the times between them."""

    def __init__(self) -> None:
        self.batches: list[list[Happening]] = []
        self.came = asyncio.Event()

    def __call__(self, batch: list[Happening]) -> None:
        self.batches.append(batch)
        self.came.set()

    async def next(self) -> list[Happening]:
        with anyio.fail_after(10):
            await self.came.wait()
        self.came.clear()
        return self.batches[-1]


async def test_happenings_between_two_frames_come_together() -> None:
    """The first happening comes at once and alone; those that follow come in order as one batch."""
    received = Received()
    batches = Batches(received)
    made: list[Happening] = [HistoryFailed(str(number)) for number in range(100)]
    batches.put(made[0])
    assert await received.next() == made[:1]
    for one in made[1:]:
        batches.put(one)
    batches.taken()
    assert await received.next() == made[1:]
    assert FRAME_SECONDS < 0.017


async def test_no_batch_comes_before_the_last_was_taken() -> None:
    """A slow window gets one batch at a time, and the rest together afterwards."""
    received = Received()
    batches = Batches(received)
    batches.put(HistoryFailed("1"))
    await received.next()
    for number in range(2, 5):
        batches.put(HistoryFailed(str(number)))
        await anyio.lowlevel.checkpoint()
    assert len(received.batches) == 1
    batches.taken()
    assert len(await received.next()) == 3


async def test_many_happenings_come_in_pieces() -> None:
    """The window gets no more at once than it can draw in time, and all of them in order."""
    received = Received()
    batches = Batches(received)
    made: list[Happening] = [HistoryFailed(str(number)) for number in range(MOST_AT_ONCE + 7)]
    for one in made:
        batches.put(one)
    assert await received.next() == made[:MOST_AT_ONCE]
    batches.taken()
    assert await received.next() == made[MOST_AT_ONCE:]


async def test_a_full_batch_stops_the_streams() -> None:
    """While too many happenings wait for the window, there is no room for more."""
    received = Received()
    batches = Batches(received)
    for number in range(MOST_WAITING):
        batches.put(HistoryFailed(str(number)))
    with anyio.move_on_after(0) as scope:
        await batches.has_room()
    assert scope.cancelled_caught
    await received.next()
    with anyio.fail_after(10):
        await batches.has_room()
