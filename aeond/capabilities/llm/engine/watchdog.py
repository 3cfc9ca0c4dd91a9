"""Telling a server that is silent from one that is not asked."""

import contextlib
from collections.abc import Iterator

import anyio

from aeond.ports import Clock


class Watchdog:
    """Knows how long somebody has waited for a server without a byte coming from it.

    Only waiting counts: a caller that is slow to take what came is no silence of the server's.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting = 0
        self._since = 0.0
        self._someone_waits = anyio.Event()

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Around each wait for the server; the end of a block counts as a sign of life only by `progress`."""
        if self._waiting == 0:
            self._since = self._clock.monotonic()
        self._waiting += 1
        self._someone_waits.set()
        try:
            yield
        finally:
            self._waiting -= 1

    def progress(self) -> None:
        """The server sent something."""
        self._since = self._clock.monotonic()

    async def silence(self, seconds: float) -> None:
        """Returns once somebody has waited that long and nothing came."""
        while True:
            if self._waiting == 0:
                self._someone_waits = anyio.Event()
                await self._someone_waits.wait()
            limit = self._since + seconds
            if self._clock.monotonic() >= limit and self._waiting:
                return
            await self._clock.sleep_until(limit)
