"""Blocking work beside the event loop, in threads that can be let go of.

A thread cannot be stopped. Work that hangs keeps its thread, but nothing waits for it: neither the caller, whose
time is up, nor the program when it ends, since the threads are daemonic.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Generic, TypeVar

import anyio
from anyio import from_thread
from anyio.lowlevel import EventLoopToken, current_token

from aeond.errors import OverloadedError
from aeond.thread_rights import mark_single_use

T = TypeVar("T")

Stopped = Callable[[], bool]
"""Tells long work whether anybody still waits for it."""

MAX_THREADS: Final = 8


class WorkerThreads:
    """Runs blocking functions, each in a thread of its own, at most `limit` at once.

    Threads that hang count until they end, so that they cannot pile up; further work then waits for
    `max_wait_seconds` and fails with OverloadedError (reason THREADS_BUSY).
    """

    def __init__(self, limit: int = MAX_THREADS, max_wait_seconds: float = 10.0) -> None:
        self._slots = anyio.Semaphore(limit, fast_acquire=True)
        self._max_wait_seconds = max_wait_seconds

    async def run(self, work: Callable[[Stopped], T]) -> T:
        """Returns or raises as `work` does. If the caller is cancelled, the work is signalled and abandoned."""
        await self._take_slot()
        stopped = threading.Event()
        handover: _Handover[T] = _Handover(current_token(), self._slots)
        thread = threading.Thread(
            target=handover.carry, args=(work, stopped.is_set), name="tool", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # the machine has no thread left
            self._slots.release()
            raise
        try:
            return await handover.result()
        finally:
            stopped.set()

    async def _take_slot(self) -> None:
        with anyio.move_on_after(self._max_wait_seconds):
            await self._slots.acquire()
            return
        raise OverloadedError("blocking tools hold all threads: try again later", reason="THREADS_BUSY")


class _Handover(Generic[T]):
    """Brings what happens in a thread, result or exception, to the task that waits for it."""

    def __init__(self, token: EventLoopToken, slots: anyio.Semaphore) -> None:
        self._token = token
        self._slots = slots
        self._ended = anyio.Event()
        self._results: list[T] = []
        self._error: BaseException | None = None

    async def result(self) -> T:
        await self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def carry(self, work: Callable[[Stopped], T], stopped: Stopped) -> None:
        """Runs in the thread, which ends with it."""
        mark_single_use()
        with self:
            self._results.append(work(stopped))

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._error = error
        with suppress(RuntimeError):  # the event loop has ended, and no task waits for the result
            from_thread.run_sync(self._end, token=self._token)
        return True

    def _end(self) -> None:
        self._slots.release()
        self._ended.set()
