"""Blocking work beside the event loop, in threads that can be let go of.

A thread cannot be stopped. Work that hangs keeps its thread, but nothing waits for it: neither the caller, whose
time is up, nor the program when it ends, since the threads are daemonic.

Threads are used again, because starting one takes longer than most of the work; but one that took the rights of a user
ends with the work that needed them.
"""

import asyncio
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

import anyio

from aeond.errors import OverloadedError
from aeond.thread_rights import holds_rights, mark_single_use

T = TypeVar("T")

Stopped = Callable[[], bool]
"""Tells long work whether anybody still waits for it."""

MAX_THREADS: Final = 8
IDLE_SECONDS: Final = 10.0  # that a thread waits for more work before it ends


class WorkerThreads:
    """Runs blocking functions in threads, at most `limit` at once.

    Threads that hang count until they end, so that they cannot pile up; further work then waits for
    `max_wait_seconds` and fails with OverloadedError (reason THREADS_BUSY).
    """

    def __init__(self, limit: int = MAX_THREADS, max_wait_seconds: float = 10.0) -> None:
        self._slots = anyio.Semaphore(limit, fast_acquire=True)
        self._max_wait_seconds = max_wait_seconds
        self._idle = _IdleThreads()

    async def run(self, work: Callable[[Stopped], T]) -> T:
        """Returns or raises as `work` does. If the caller is cancelled, the work is signalled and abandoned."""
        return await (await self.begin(work)).result()

    async def begin(self, work: Callable[[Stopped], T]) -> "Begun[T]":
        """Starts the work. The caller must await its result, or stop it."""
        await self._take_slot()
        handover: Begun[T] = Begun(work, asyncio.get_running_loop(), self._slots)
        try:
            (self._idle.take() or _Worker(self._idle)).carry(handover)
        except RuntimeError:  # the machine has no thread left
            self._slots.release()
            raise
        return handover

    async def _take_slot(self) -> None:
        with anyio.move_on_after(self._max_wait_seconds):
            await self._slots.acquire()
            return
        raise OverloadedError("blocking tools hold all threads: try again later", reason="THREADS_BUSY")


class Begun(Generic[T]):
    """Work in a thread: brings its result or exception to the task that waits for it."""

    def __init__(
        self,
        work: Callable[[Stopped], T],
        loop: asyncio.AbstractEventLoop,
        slots: anyio.Semaphore,
    ) -> None:
        self._work = work
        self._stopped = threading.Event()
        self._loop = loop
        self._slots = slots
        self._ended = anyio.Event()
        self._results: list[T] = []
        self._error: BaseException | None = None

    def stop(self) -> None:
        """Signals the work that nothing waits for it any more."""
        self._stopped.set()

    async def result(self) -> T:
        """Returns or raises as the work does. If the caller is cancelled, the work is signalled and abandoned."""
        try:
            await self._ended.wait()
        finally:
            self.stop()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def perform(self) -> None:
        """Runs in the thread."""
        with self:
            self._results.append(self._work(self._stopped.is_set))

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, *_: object) -> bool:
        self._error = error
        return True

    def deliver(self) -> bool:
        """Runs in the thread. False if the event loop has ended, and no task waits for the result."""
        try:
            self._loop.call_soon_threadsafe(self._end)  # without waiting for it, as anyio would
        except RuntimeError:
            return False
        return True

    def _end(self) -> None:
        self._slots.release()
        self._ended.set()


class _IdleThreads:
    """The threads without work, the one that worked last on top."""

    def __init__(self) -> None:
        self._threads: list[_Worker] = []

    def add(self, thread: "_Worker") -> None:
        self._threads.append(thread)

    def take(self) -> "_Worker | None":
        try:
            return self._threads.pop()
        except IndexError:
            return None

    def remove(self, thread: "_Worker") -> bool:
        """False if it has been taken meanwhile."""
        try:
            self._threads.remove(thread)
        except ValueError:
            return False
        return True


class _Worker:
    """A thread that carries work after work."""

    def __init__(self, idle: _IdleThreads) -> None:
        self._idle = idle
        self._next: SimpleQueue[Begun[Any]] = SimpleQueue()
        threading.Thread(target=self._live, name="tool", daemon=True).start()

    def carry(self, handover: "Begun[Any]") -> None:
        self._next.put(handover)

    def _live(self) -> None:
        mark_single_use()
        while (handover := self._received()) is not None:
            handover.perform()
            if holds_rights():
                handover.deliver()
                return
            self._idle.add(self)  # before the result arrives: the task may have more work at once
            if not handover.deliver() and self._idle.remove(self):
                return
            del handover  # with its result

    def _received(self) -> "Begun[Any] | None":
        """The next work; None if none comes in time."""
        while True:
            try:
                return self._next.get(timeout=IDLE_SECONDS)
            except Empty:
                if self._idle.remove(self):
                    return None
