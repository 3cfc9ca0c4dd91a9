"""Ends streams properly when a client stops reading or the daemon drains."""

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import anyio

from aeond.concurrency import closing
from aeond.errors import AeondError, OverloadedError, UnavailableError
from aeond.frozen import frozen

STALL_SECONDS = 30.0

Item = TypeVar("Item")


@frozen
class Part:
    """One encoded message of a stream; `last_seq` is the position from which a client that has it can resume
    (-1: none).
    """

    message: bytes
    last_seq: int = -1


class StreamCutError(Exception):
    """A stream was ended early: `error` says why; `last_seq` is the resume position (-1: the start)."""

    def __init__(self, error: AeondError, last_seq: int) -> None:
        super().__init__(error.message)
        self.error = error
        self.last_seq = last_seq


class Streams:
    """All open streams. Each is ended if its client does not read, and all of them when the daemon drains."""

    def __init__(self, stall_seconds: float = STALL_SECONDS) -> None:
        self._stall_seconds = stall_seconds
        self._open: set[anyio.CancelScope] = set()
        self._draining = False
        self._one_closed = anyio.Event()

    @property
    def count(self) -> int:
        return len(self._open)

    def drain(self) -> None:
        """Ends every stream, and every new one before its first message."""
        self._draining = True
        for scope in self._open:
            scope.cancel()

    async def wait_closed(self) -> None:
        """Returns once no stream is open."""
        while self._open:
            self._one_closed = anyio.Event()
            await self._one_closed.wait()

    async def carry(self, parts: AsyncIterator[Part], write: Callable[[bytes], Awaitable[None]]) -> None:
        """Writes parts until the source is exhausted, and closes the source before anything else happens.

        StreamCutError if the daemon drains, the source becomes unavailable, or one write takes longer than
        the stall limit.
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
            except UnavailableError as error:  # the source learns of the drain first
                raise StreamCutError(error, last_seq) from None
            finally:
                self._open.discard(scope)
                self._one_closed.set()
        if scope.cancelled_caught:
            raise StreamCutError(self._why_cut(), last_seq)

    def _why_cut(self) -> AeondError:
        if self._draining:
            return UnavailableError(
                "The daemon is stopping. Resume from last-seq when it is back.", reason="DRAINING"
            )
        return OverloadedError(
            f"The client read nothing for {self._stall_seconds:g} seconds. Resume from last-seq.",
            reason="STREAM_STALLED",
            retry_after_seconds=0.0,
        )
