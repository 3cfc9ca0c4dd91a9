"""Passes happenings from the worker to the user interface: one batch per frame."""

import asyncio
from collections.abc import Callable

from aeon_popup.state.happenings import Happening

FRAME_SECONDS = 0.016
# While this many wait for the user interface, streams are not read, so that gRPC's flow control reaches the daemon.
MOST_WAITING = 2_000
# More at once would make the window late on a slow machine.
MOST_AT_ONCE = 400


class Batches:
    """Collects happenings and delivers them together, at most `MOST_AT_ONCE`: the first at once, later ones 16 ms after the
    previous batch, and none before the previous one was taken.

    `put` and `has_room` belong to the worker's loop; `deliver` is called there and passes the batch on.
    """

    def __init__(self, deliver: Callable[[list[Happening]], None]) -> None:
        self._deliver = deliver
        self._waiting: list[Happening] = []
        self._room = asyncio.Event()
        self._room.set()
        self._taken = True
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0

    def put(self, happening: Happening) -> None:
        self._waiting.append(happening)
        if len(self._waiting) >= MOST_WAITING:
            self._room.clear()
        self._plan()

    async def has_room(self) -> None:
        """Returns once fewer than `MOST_WAITING` happenings wait for the user interface."""
        await self._room.wait()

    def taken(self) -> None:
        """The user interface has applied the last batch."""
        self._taken = True
        self._plan()

    def _plan(self) -> None:
        if self._waiting and self._taken and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._last + FRAME_SECONDS, loop.time()), self._flush)

    def _flush(self) -> None:
        self._timer = None
        batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
        self._last = asyncio.get_running_loop().time()
        self._taken = False
        if len(self._waiting) < MOST_WAITING:
            self._room.set()
        self._deliver(batch)
