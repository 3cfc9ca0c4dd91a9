"""Reads an answer in few pieces while the engine writes it on the same processor.

Whatever wakes the daemon takes a core from an engine that computes on all of them, and all its threads then wait for one.
To pass data on to a client takes many times longer than to receive it (ADR 0127).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, SupportsIndex

GATHER_SECONDS: Final = 0.1  # people do not see the difference
MAX_HELD_BYTES: Final = 1 << 16
LAST_CHUNK: Final = b"0\r\n\r\n"  # of a body in chunks

Streams = tuple["GatheringReader", asyncio.StreamWriter]


class GatheringReader(asyncio.StreamReader):
    """From `gather` on, what arrives within GATHER_SECONDS of the last data that was given is given together, at the end of
    that time. The end of a response is given at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self._gathers = False
        self._held = b""
        self._timer: asyncio.TimerHandle | None = None

    def gather(self) -> None:
        self._gathers = True

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        self._held += bytes(data)
        if self._timer is None or len(self._held) > MAX_HELD_BYTES or self._held.endswith(LAST_CHUNK):
            self._give()

    def feed_eof(self) -> None:
        self._give()
        self._stop()
        super().feed_eof()

    def _give(self) -> None:
        self._stop()
        if self._held:
            if self._gathers:
                self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._give)
            held, self._held = self._held, b""
            super().feed_data(held)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def opened(connect: Callable[..., Awaitable[tuple[Any, Any]]], *place: Any, **options: Any) -> Streams:
    """A connection by `loop.create_connection` or `loop.create_unix_connection`."""
    reader = GatheringReader()
    loop = asyncio.get_running_loop()
    transport, protocol = await connect(lambda: asyncio.StreamReaderProtocol(reader), *place, **options)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
