"""Reads an answer in few pieces while the engine writes it on the same processor.

When the daemon wakes, it takes a core from an engine that computes on all of them, and all threads of the engine wait for the
one that lost it. To pass data on to a client takes many times longer than to receive it (ADR 0127).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, SupportsIndex

GATHER_SECONDS: Final = 0.1  # people do not see the difference
MAX_HELD_BYTES: Final = 1 << 16

Streams = tuple["GatheringReader", asyncio.StreamWriter]


class GatheringReader(asyncio.StreamReader):
    """From `gather` on, what arrives within GATHER_SECONDS of the last data that was given is given together, at the end of
    that time. The bytes `until`, and all after them, are given at once, and so is what was held when the connection ends. Where it
    breaks, a reader that waits gets that before the error.
    """

    def __init__(self) -> None:
        super().__init__()
        self._gathers = False
        self._until = b""
        self._last = b""  # of what arrived: `until` may come in two parts
        self._held = b""
        self._timer: asyncio.TimerHandle | None = None

    def gather(self, until: bytes) -> None:
        if not self._until:
            self._gathers, self._until = True, until

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        new = bytes(data)
        self._held += new
        if self._gathers:
            recent = self._last + new
            self._gathers = self._until not in recent
            self._last = recent[-len(self._until) :]
        if self._timer is None or not self._gathers or len(self._held) > MAX_HELD_BYTES:
            self._give()

    def feed_eof(self) -> None:
        self._end()
        super().feed_eof()

    def set_exception(self, exc: Exception) -> None:
        """asyncio calls it in place of feed_eof when a connection breaks."""
        self._end()
        super().set_exception(exc)

    def _end(self) -> None:
        self._gathers = False
        self._give()

    def _give(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held:
            if self._gathers:
                self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._give)
            held, self._held = self._held, b""
            super().feed_data(held)


async def opened(connect: Callable[..., Awaitable[tuple[Any, Any]]], *place: Any, **options: Any) -> Streams:
    """A connection by `loop.create_connection` or `loop.create_unix_connection`."""
    reader = GatheringReader()
    loop = asyncio.get_running_loop()
    transport, protocol = await connect(lambda: asyncio.StreamReaderProtocol(reader), *place, **options)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
