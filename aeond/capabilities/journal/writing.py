"""The way to the writer: one thread, a bounded queue, an answer within a deadline."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import anyio

from aeond.capabilities.journal.changes import Change
from aeond.capabilities.journal.committing import Answer, Committer
from aeond.capabilities.journal.schema import JOURNAL
from aeond.errors import AeondError, OverloadedError, StoreError

MAX_GROUP = 64
MAX_WAITING = 1_024
MAX_WAITING_BYTES = 64 << 20
QUIET_SECONDS = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A change on its way, and who waits for it."""

    change: Change
    answered: asyncio.Future[int]


class Writer:
    """Hands changes to the thread that owns the committer, and answers to who waits for them.

    Whatever waits when a commit ends goes into the next one together. `deadline_seconds` bounds each
    wait: a writer that is not done by then is stuck, and the journal has failed.
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
        # A thread that hangs on a dead disk must not keep the process alive.
        self._thread = threading.Thread(target=self._work, name="journal-writer", daemon=True)
        self._thread.start()
        with anyio.CancelScope(shield=True, deadline=self._loop.time() + self._deadline_seconds):
            await self._opened
            return self
        raise self._stuck()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Lets the thread finish what waits, write the log back and end."""
        self._queue.put(None)
        with anyio.CancelScope(shield=True, deadline=self._loop.time() + self._deadline_seconds):
            await self._ended.wait()
            self._thread.join()  # it has nothing left to do

    @property
    def failure(self) -> StoreError | None:
        """Why nothing is written any more, if so."""
        return self._failure

    def check(self) -> None:
        """Raises StoreError (JOURNAL_FAILED) once the journal has failed."""
        if self._failure is not None:
            raise self._again(self._failure)

    async def perform(self, change: Change, *, in_doubt: bool = False) -> int:
        """Returns what was written, once it is durable.

        A cancelled caller waits for the answer all the same, because what was handed over will be written;
        `in_doubt` lets it go without knowing. Raises
        what the change's check raises, OverloadedError (JOURNAL_OVERLOADED) when too much waits, and
        StoreError (DISK_FULL, JOURNAL_BUSY, JOURNAL_FAILED).
        """
        self.check()
        crowded = len(self._waiting) >= MAX_WAITING
        if crowded or (self._waiting and self._waiting_bytes + change.size > MAX_WAITING_BYTES):
            raise OverloadedError(
                f"{len(self._waiting)} changes wait for the journal: try again in a moment",
                reason="JOURNAL_OVERLOADED",
            )
        waiting = _Waiting(change, self._loop.create_future())
        self._waiting.add(waiting)
        self._waiting_bytes += change.size
        with anyio.CancelScope(shield=not in_doubt, deadline=self._loop.time() + self._deadline_seconds):
            self._queue.put(waiting)  # last: the thread that it wakes finds this one out of its way
            return await waiting.answered
        raise self._stuck()

    # ------------------------------------------------------------ on the loop

    def _answer(self, group: Sequence[_Waiting], answers: Sequence[Answer]) -> None:
        for waiting, answer in zip(group, answers, strict=True):
            if waiting not in self._waiting:
                continue  # the journal had failed, and said so, before this came
            self._waiting.remove(waiting)
            self._waiting_bytes -= waiting.change.size
            if waiting.answered.done():
                continue  # whoever asked was torn away
            if isinstance(answer, AeondError):
                waiting.answered.set_exception(answer)
            else:
                waiting.answered.set_result(answer)

    def _fail(self, failure: StoreError) -> None:
        """From now on nothing is acknowledged, not even what the disk may have."""
        if self._failure is None:
            self._failure = failure
            group = list(self._waiting)
            self._answer(group, [self._again(failure) for _ in group])

    def _stuck(self) -> StoreError:
        seconds = f"{self._deadline_seconds:g} s"
        self._fail(
            JOURNAL.refusal(
                "FAILED", f"the journal did not answer for {seconds}: check the disk, then restart"
            )
        )
        assert self._failure is not None
        return self._again(self._failure)

    def _end(self) -> None:
        self._fail(JOURNAL.refusal("FAILED", "the journal is closed: nothing is read or written any more"))
        if not self._opened.done():
            self._refuse_start(JOURNAL.refusal("FAILED", "the journal's writer ended before it began"))
        self._ended.set()

    @staticmethod
    def _again(failure: StoreError) -> StoreError:
        """The same failure for one more caller: an exception belongs to one traceback."""
        return StoreError(failure.message, reason=failure.reason)

    # ------------------------------------------------------------ on the thread

    def _work(self) -> None:
        try:
            try:
                self._committer.open()
            except StoreError as error:
                self._tell(self._refuse_start, error)
                return
            self._tell(self._admit)
            try:
                self._committer.lengthen_log()
                self._serve()
                self._committer.close()
            except StoreError as failure:
                # The connection stays open: the next to open the file would take what was written and
                # never synced for committed.
                self._tell(self._fail, failure)
        finally:
            self._tell(self._end)

    def _serve(self) -> None:
        while not self._stopping:
            group = self._next_group()
            if group:
                answers = self._committer.commit([waiting.change for waiting in group])
                self._tell(self._answer, group, answers)
            if self._committer.has_long_log:
                self._committer.checkpoint()

    def _next_group(self) -> list[_Waiting]:
        """All that waits, up to a bound; waits for the first, and uses a quiet moment for the log."""
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
        return self._queue.get()  # nothing to do: the next change, or the end, wakes it

    def _tell(self, callback: Callable[..., object], *arguments: object) -> None:
        """Runs something on the loop, unless the loop has gone without waiting for this thread."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _admit(self) -> None:
        if not self._opened.done():
            self._opened.set_result(None)

    def _refuse_start(self, error: StoreError) -> None:
        if not self._opened.done():
            self._opened.set_exception(error)
