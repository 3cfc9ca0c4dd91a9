"""Distinguishes a silent server from one that has no requests."""

import contextlib
from collections.abc import Iterator

import anyio

from aeond.ports import Clock


class Watchdog:
    """Measures how long callers have waited for a server without receiving a byte.

    Only waiting counts: a caller that is slow to read does not make the server silent.
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
        """Returns once callers have waited that long without receiving anything."""
        while True:
            if self._waiting == 0:
                self._someone_waits = anyio.Event()
                await self._someone_waits.wait()
            limit = self._since + seconds
            if self._clock.monotonic() >= limit and self._waiting:
                return
            await self._clock.sleep_until(limit)
