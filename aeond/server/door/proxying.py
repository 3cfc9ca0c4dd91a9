"""Proxies bytes in both directions between two sockets, with backpressure."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import cast

import anyio

SCRATCH_BYTES = 64 * 1024
STALL_SECONDS = 60.0
LINGER_SECONDS = 5.0
REST = 2  # seconds of rest for each second that filtering took, for each open connection
LEAST_REST_SECONDS = 0.002


class Scratch:
    """What all connections of a door share: the read buffer, and the event loop's time.

    Sharing the buffer is safe: the loop fills it and hands it over in one step, and the receiver copies the
    bytes. `connections` is the number of open ones.
    """

    def __init__(self) -> None:
        self.view = memoryview(bytearray(SCRATCH_BYTES))
        self.connections = 0


async def splice(
    client: socket.socket,
    server: socket.socket,
    scratch: Scratch,
    admit: Callable[[bytes], bytes | None],
    stall_seconds: float = STALL_SECONDS,
) -> None:
    """Copies bytes until either end closes; bytes still in transit then get a few seconds to arrive.

    Client bytes are forwarded as returned by `admit`; at its first None both ends are closed.

    A client whose bytes take long to filter is not read for a while, longer the more connections there are:
    filtering for all of them takes at most a third of the event loop's time, and delays no other connection.

    Memory use is limited to one scratch buffer and the transports' write buffers (64 KiB each, plus one
    read), however slowly an end reads. An end that accepts nothing for `stall_seconds` is closed.
    Cancellation closes both ends immediately.
    """
    loop = asyncio.get_running_loop()
    ended = anyio.Event()
    upstream = _Half(scratch, ended, stall_seconds)
    downstream = _Half(scratch, ended, stall_seconds, admit)
    upstream.other, downstream.other = downstream, upstream
    scratch.connections += 1
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
        scratch.connections -= 1
        upstream.drop()
        downstream.drop()


class _Half(asyncio.BufferedProtocol):
    """One end: it forwards what it reads to the other. `ended` is set when either stops reading."""

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
        self._rest: asyncio.TimerHandle | None = None
        self._held = False  # by the other end, which does not accept more
        self._transport: asyncio.Transport | None = None
        self._early = b""  # data from the other end that arrived before this one was connected

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # Until both ends are connected. Python before 3.11.4 may still read once: see `send`.
        self._transport.pause_reading()
        if self._early:
            self._transport.write(self._early)
            self._early = b""

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._scratch.view

    def buffer_updated(self, nbytes: int) -> None:
        data: bytes | None = bytes(self._scratch.view[:nbytes])
        if self._admit is not None and data is not None:
            started = time.thread_time()
            data = self._admit(data)
            self._take_rest((time.thread_time() - started) * REST * self._scratch.connections)
        if data is None:
            self.drop()
        else:
            self.other.send(data)

    def eof_received(self) -> bool:
        self._ended.set()
        return True  # not closed yet: buffered data must still be sent, see `finish`

    def pause_writing(self) -> None:
        self.other.hold()  # this also prevents us from seeing that end close: hence the limit
        self._stall = asyncio.get_running_loop().call_later(self._stall_seconds, self.drop)

    def resume_writing(self) -> None:
        self._forget_stall()
        self.other.begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_stall()
        if self._rest is not None:
            self._rest.cancel()
        self._transport = None
        self._ended.set()
        self.gone.set()

    def begin(self) -> None:
        """Starts or resumes reading."""
        self._held = False
        if self._transport is not None and self._rest is None:
            self._transport.resume_reading()

    def hold(self) -> None:
        """Pauses reading."""
        self._held = True
        if self._transport is not None:
            self._transport.pause_reading()

    def _take_rest(self, seconds: float) -> None:
        """Pauses reading for that long, unless it is too short to matter."""
        if seconds < LEAST_REST_SECONDS or self._transport is None or self._rest is not None:
            return
        self._transport.pause_reading()
        self._rest = asyncio.get_running_loop().call_later(seconds, self._end_rest)

    def _end_rest(self) -> None:
        self._rest = None
        if not self._held:
            self.begin()

    def send(self, data: bytes) -> None:
        if self._transport is not None:
            if data:
                self._transport.write(data)
        elif not self.gone.is_set():
            self._early += data

    def finish(self) -> None:
        """Closes after pending writes are sent."""
        if self._transport is not None:
            self._transport.close()

    def drop(self) -> None:
        """Closes immediately."""
        if self._transport is not None:
            self._transport.abort()

    def _forget_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
