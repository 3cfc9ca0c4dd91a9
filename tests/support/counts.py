"""A number that tests can wait for."""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class Count:
    """How many of something there are right now, within one event loop."""

    def __init__(self) -> None:
        self.now = 0
        self._changed = anyio.Event()

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Counts one more during the block."""
        self._add(1)
        try:
            yield
        finally:
            self._add(-1)

    async def reaches(self, number: int, seconds: float = 60.0) -> None:
        """Returns once there are so many; TimeoutError when that takes too long."""
        with anyio.fail_after(seconds):
            while self.now != number:
                await self._changed.wait()

    def _add(self, number: int) -> None:
        self.now += number
        self._changed.set()
        self._changed = anyio.Event()
