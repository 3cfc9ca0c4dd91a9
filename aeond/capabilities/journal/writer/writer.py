"""The queue to the writer: one thread, a bounded queue, and a deadline for every result."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import anyio

from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.journal.writer.changes import Change
from aeond.capabilities.journal.writer.committer import Answer, Committer
from aeond.errors import AeondError, OverloadedError, StoreError

MAX_GROUP = 64
MAX_WAITING = 1_024
MAX_WAITING_BYTES = 64 << 20
QUIET_SECONDS = 0.5
# Opening a file of an older version reads every event: it may take as long as a whole start.
OPENING_SECONDS = 900.0


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A queued change and its waiting caller."""

    change: Change
    answered: asyncio.Future[int]


class Writer:
    """Passes changes to the thread that owns the committer, and results to the callers.

    All changes queued when a commit ends go into the next one together. `deadline_seconds` limits each wait but that
    for opening: a writer that takes longer is stuck, and the journal has failed.
    """

    def __init__(self, committer: Committer, deadline_seconds: float = 30.0) -> None:
        self._committer = committer
        self._deadline_seconds = deadline_seconds
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._waiting: set[_Waiting] = set()
        self._waiting_bytes = 0
        self._failure: StoreError | None = None
        self._stopping = False

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._ended = anyio.Event()
        # Daemon thread: a thread blocked on a dead disk must not keep the process alive.
        self._thread = threading.Thread(target=self._work, name="journal-writer", daemon=True)
        self._thread.start()
        with anyio.move_on_after(OPENING_SECONDS):
            try:
                await self._opened
            except anyio.get_cancelled_exc_class():
                self._queue.put(None)  # the thread ends when it has opened the file
                raise
            return self
        raise self._stuck(OPENING_SECONDS)

    async def __aexit__(self, *_: object) -> None:
        """Lets the thread finish queued changes, checkpoint the log and end."""
        self._queue.put(None)
        with anyio.CancelScope(shield=True, deadline=self._loop.time() + self._deadline_seconds):
            await self._ended.wait()
            self._thread.join()  # the thread has nothing left to do

    def check(self) -> None:
        """Raises StoreError (JOURNAL_FAILED) if the journal has failed."""
        if self._failure is not None:
            raise self._again(self._failure)

    async def perform(self, change: Change, *, in_doubt: bool = False, refusable: bool = True) -> int:
        """Returns the result of the change once it is durable.

        A cancelled caller still waits for the result, because a queued change will be written; `in_doubt`
        returns without knowing the result. Raises the errors of the change's check, OverloadedError
        (JOURNAL_OVERLOADED) if it is refusable and too many changes are queued, and StoreError (DISK_FULL,
        JOURNAL_BUSY, JOURNAL_FAILED).
        """
        self.check()
        crowded = len(self._waiting) >= MAX_WAITING
        too_large = self._waiting and self._waiting_bytes + change.size > MAX_WAITING_BYTES
        if refusable and (crowded or too_large):
            raise OverloadedError(
                f"{len(self._waiting)} changes are queued for the journal: retry in a few seconds",
                reason="JOURNAL_OVERLOADED",
            )
        waiting = _Waiting(change, self._loop.create_future())
        self._waiting.add(waiting)
        self._waiting_bytes += change.size
        with anyio.CancelScope(shield=not in_doubt, deadline=self._loop.time() + self._deadline_seconds):
            self._queue.put(waiting)  # last, so that the thread, once woken, need not wait for this one
            return await waiting.answered
        raise self._stuck(self._deadline_seconds)

    # ------------------------------------------------------------ on the event loop

    def _answer(self, group: Sequence[_Waiting], answers: Sequence[Answer]) -> None:
        for waiting, answer in zip(group, answers, strict=True):
            if waiting not in self._waiting:
                continue  # the journal had failed and reported it before this result arrived
            self._waiting.remove(waiting)
            self._waiting_bytes -= waiting.change.size
            if waiting.answered.done():
                continue  # the caller's loop was torn down
            if isinstance(answer, AeondError):
                waiting.answered.set_exception(answer)
            else:
                waiting.answered.set_result(answer)

    def _fail(self, failure: StoreError) -> None:
        """Fails permanently: nothing is acknowledged any more, not even changes that may be on disk."""
        if self._failure is None:
            self._failure = failure
            group = list(self._waiting)
            self._answer(group, [self._again(failure) for _ in group])

    def _stuck(self, seconds: float) -> StoreError:
        self._fail(
            JOURNAL.refusal(
                "FAILED", f"the journal did not respond for {seconds:g} s: check the disk, then restart"
            )
        )
        assert self._failure is not None
        return self._again(self._failure)

    def _end(self) -> None:
        self._fail(JOURNAL.refusal("FAILED", "the journal is closed: it cannot be read or written any more"))
        if not self._opened.done():
            self._refuse_start(JOURNAL.refusal("FAILED", "the journal's writer ended before it started"))
        self._ended.set()

    @staticmethod
    def _again(failure: StoreError) -> StoreError:
        """A copy of the failure for one more caller: an exception holds a single traceback."""
        return StoreError(failure.message, reason=failure.reason)

    # ------------------------------------------------------------ on the writer thread

    def _work(self) -> None:
        try:
            try:
                self._committer.open()
            except StoreError as error:
                self._call_on_loop(self._refuse_start, error)
                return
            self._call_on_loop(self._admit)
            try:
                self._committer.lengthen_log()
                self._serve()
                self._committer.close()
            except StoreError as failure:
                # The connection stays open: otherwise the next process to open the file would treat written
                # but unsynced data as committed.
                self._call_on_loop(self._fail, failure)
        finally:
            self._call_on_loop(self._end)

    def _serve(self) -> None:
        while not self._stopping:
            group = self._next_group()
            if group:
                answers = self._committer.commit([waiting.change for waiting in group])
                self._call_on_loop(self._answer, group, answers)
            if self._committer.has_long_log:
                self._committer.checkpoint()

    def _next_group(self) -> list[_Waiting]:
        """All queued changes, up to a limit. Waits for the first one and uses idle time to checkpoint the
        log.
        """
        group: list[_Waiting] = []
        with contextlib.suppress(queue.Empty):
            waiting = self._first()
            while waiting is not None:
                group.append(waiting)
                if len(group) == MAX_GROUP:
                    return group
                waiting = self._queue.get_nowait()
            self._stopping = True
        return group

    def _first(self) -> _Waiting | None:
        if self._committer.has_log:
            try:
                return self._queue.get(timeout=QUIET_SECONDS)
            except queue.Empty:
                self._committer.checkpoint()
        return self._queue.get()  # idle: the next change, or the end, wakes it

    def _call_on_loop(self, callback: Callable[..., object], *arguments: object) -> None:
        """Runs a function on the event loop, unless the loop has ended without waiting for this thread."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _admit(self) -> None:
        if not self._opened.done():
            self._opened.set_result(None)

    def _refuse_start(self, error: StoreError) -> None:
        if not self._opened.done():
            self._opened.set_exception(error)
