"""A splice: bytes go both ways between two sockets, no faster than the receiving end takes them."""

import asyncio
import socket
from collections.abc import Callable
from typing import cast

import anyio

SCRATCH_BYTES = 64 * 1024
STALL_SECONDS = 60.0
LINGER_SECONDS = 5.0


class Scratch:
    """The one buffer that every splice of a door reads into.

    Sharing it is safe: the loop fills it and hands it over in one go, and what is handed on is a copy.
    """

    def __init__(self) -> None:
        self.view = memoryview(bytearray(SCRATCH_BYTES))


async def splice(
    client: socket.socket,
    server: socket.socket,
    scratch: Scratch,
    admit: Callable[[bytes], bytes | None],
    stall_seconds: float = STALL_SECONDS,
) -> None:
    """Carries bytes until either end closes; what is then still on its way gets a few seconds to arrive.

    What the client says goes on as `admit` gives it back; at its first None both ends are dropped.

    Holds at most one scratch buffer and the transports' write buffers (64 KiB each, and one read more) in
    memory, however slowly an end reads; one that takes nothing for `stall_seconds` is dropped. Cancelling
    it drops both ends at once.
    """
    loop = asyncio.get_running_loop()
    ended = anyio.Event()
    upstream = _Half(scratch, ended, stall_seconds)
    downstream = _Half(scratch, ended, stall_seconds, admit)
    upstream.other, downstream.other = downstream, upstream
    try:
        await loop.connect_accepted_socket(lambda: upstream, server)
        await loop.connect_accepted_socket(lambda: downstream, client)
        upstream.begin()
        downstream.begin()
        await ended.wait()
        upstream.finish()
        downstream.finish()
        with anyio.move_on_after(LINGER_SECONDS):
            await upstream.gone.wait()
            await downstream.gone.wait()
    finally:
        upstream.drop()
        downstream.drop()


class _Half(asyncio.BufferedProtocol):
    """One end: what it reads it writes to the other. `ended` is set when either reads no more."""

    other: "_Half"

    def __init__(
        self,
        scratch: Scratch,
        ended: anyio.Event,
        stall_seconds: float,
        admit: Callable[[bytes], bytes | None] | None = None,
    ) -> None:
        self.gone = anyio.Event()
        self._scratch = scratch
        self._ended = ended
        self._stall_seconds = stall_seconds
        self._admit = admit
        self._stall: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self._early = b""  # what the other end said before this one was there

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # Until both ends are there. Python before 3.11.4 may read once all the same: see `send`.
        self._transport.pause_reading()
        if self._early:
            self._transport.write(self._early)
            self._early = b""

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._scratch.view

    def buffer_updated(self, nbytes: int) -> None:
        data: bytes | None = bytes(self._scratch.view[:nbytes])
        if self._admit is not None and data is not None:
            data = self._admit(data)
        if data is None:
            self.drop()
        else:
            self.other.send(data)

    def eof_received(self) -> bool:
        self._ended.set()
        return True  # not closed yet: what was read still has to go out, see `finish`

    def pause_writing(self) -> None:
        self.other.hold()  # which also keeps us from seeing that end close: hence the bound
        self._stall = asyncio.get_running_loop().call_later(self._stall_seconds, self.drop)

    def resume_writing(self) -> None:
        self._forget_stall()
        self.other.begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_stall()
        self._transport = None
        self._ended.set()
        self.gone.set()

    def begin(self) -> None:
        """Reads, or reads again."""
        if self._transport is not None:
            self._transport.resume_reading()

    def hold(self) -> None:
        """Stops reading until it is told to go on."""
        if self._transport is not None:
            self._transport.pause_reading()

    def send(self, data: bytes) -> None:
        if self._transport is not None:
            if data:
                self._transport.write(data)
        elif not self.gone.is_set():
            self._early += data

    def finish(self) -> None:
        """Closes once what was written has gone out."""
        if self._transport is not None:
            self._transport.close()

    def drop(self) -> None:
        """Closes at once."""
        if self._transport is not None:
            self._transport.abort()

    def _forget_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
