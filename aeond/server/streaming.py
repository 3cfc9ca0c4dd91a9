"""Streams that end well: when a client stops reading, and when the daemon drains."""

import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio

from aeond.errors import AeondError, OverloadedError, UnavailableError
from aeond.frozen import frozen

STALL_SECONDS = 30.0

Item = TypeVar("Item")


@frozen
class Part:
    """One message of a stream, encoded; `last_seq` is where a client that has it can go on (-1: nowhere)."""

    message: bytes
    last_seq: int = -1


class StreamCutError(Exception):
    """A stream was ended early: `error` says why, `last_seq` where to go on (-1: where it began)."""

    def __init__(self, error: AeondError, last_seq: int) -> None:
        super().__init__(error.message)
        self.error = error
        self.last_seq = last_seq


@asynccontextmanager
async def closing(source: AsyncIterator[Item]) -> AsyncIterator[AsyncIterator[Item]]:
    """Closes the source at the end, whichever way that comes; one that cannot be closed holds nothing."""
    try:
        yield source
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()


class Streams:
    """All open streams: each is cut when its client does not read, all of them when the daemon drains."""

    def __init__(self, stall_seconds: float = STALL_SECONDS) -> None:
        self._stall_seconds = stall_seconds
        self._open: set[anyio.CancelScope] = set()
        self._draining = False
        self._one_closed = anyio.Event()

    @property
    def count(self) -> int:
        return len(self._open)

    def drain(self) -> None:
        """Cuts every stream, and from now on each new one before its first message."""
        self._draining = True
        for scope in self._open:
            scope.cancel()

    async def wait_closed(self) -> None:
        """Returns once no stream is open."""
        while self._open:
            self._one_closed = anyio.Event()
            await self._one_closed.wait()

    async def carry(self, parts: AsyncIterator[Part], write: Callable[[bytes], Awaitable[None]]) -> None:
        """Writes each part until there are no more, and closes the source before anything else happens.

        StreamCutError when the daemon drains, when the source becomes unavailable, or when one write took
        longer than the stall limit.
        """
        if self._draining:
            raise StreamCutError(self._why_cut(), -1)
        last_seq = -1
        with anyio.CancelScope() as scope:
            self._open.add(scope)
            try:
                async with closing(parts):
                    async for part in parts:
                        scope.deadline = anyio.current_time() + self._stall_seconds
                        await write(part.message)
                        scope.deadline = math.inf
                        last_seq = max(last_seq, part.last_seq)
            except UnavailableError as error:  # the source knows of the drain first
                raise StreamCutError(error, last_seq) from None
            finally:
                self._open.discard(scope)
                self._one_closed.set()
        if scope.cancelled_caught:
            raise StreamCutError(self._why_cut(), last_seq)

    def _why_cut(self) -> AeondError:
        if self._draining:
            return UnavailableError(
                "The daemon is stopping. Go on from last-seq when it is back.", reason="DRAINING"
            )
        return OverloadedError(
            f"The client read nothing for {self._stall_seconds:g} seconds. Go on from last-seq.",
            reason="STREAM_STALLED",
            retry_after_seconds=0.0,
        )
