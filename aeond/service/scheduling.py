"""Which runs are worked on: admission, resumption, what is handed in from outside, and an orderly stop.

Order of life: `async with scheduler` gives it a place for its tasks; `resume` takes up what an earlier
daemon left; `admit` and `deliver` serve clients; `drain` parks everything. Exactly one loop at a time
works on a run, because loops are opened under one lock.
"""

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

import anyio
from anyio.abc import TaskGroup

from aeond.domain.events import Event, EventKind, RunResumed
from aeond.domain.runs import RunSnapshot, RunState, SuspendReason
from aeond.errors import AeondError, OverloadedError, ReplayError, StoreError
from aeond.ports import Clock, Journal, RunLoop, RunLoopFactory
from aeond.service.admission import Admission, AdmissionState
from aeond.service.containment import RunBoundary
from aeond.service.feed import HotFeed, Watcher
from aeond.service.folding import RunFolding

LIVE: Final = frozenset({RunState.PENDING, RunState.RUNNING, RunState.AWAITING_INPUT, RunState.SUSPENDED})
PAGE_RUNS: Final = 256
DISK_PROBE_SECONDS: Final = 5.0
DELIVERY_SECONDS: Final = 60.0
DELIVERY_ATTEMPTS: Final = 3

log = logging.getLogger("aeond.runs")


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How many runs are worked on at once, and how many more may wait for a place."""

    running: int = 4
    waiting: int = 64


@dataclass(eq=False, slots=True)
class Work:
    """A run that is being worked on."""

    loop: RunLoop
    done: anyio.Event = field(default_factory=anyio.Event)


@dataclass(eq=False, slots=True)
class Creation:
    """A run on its way into the journal."""

    created: Event
    snapshot: RunSnapshot  # as that event leaves it
    done: anyio.Event = field(default_factory=anyio.Event)
    error: AeondError | None = None


class RunScheduler:
    """Owns every run that is worked on. A journal that can no longer be written ends it with StoreError."""

    _group: TaskGroup

    def __init__(
        self,
        *,
        journal: Journal,
        feed: HotFeed,
        folding: RunFolding,
        boundary: RunBoundary,
        admission: Admission,
        make_loop: RunLoopFactory,
        clock: Clock,
        limits: RunLimits,
    ) -> None:
        self._journal = journal
        self._feed = feed
        self._folding = folding
        self._boundary = boundary
        self._admission = admission
        self._make_loop = make_loop
        self._clock = clock
        self._limits = limits
        self._opening = anyio.Lock()
        self._changed = anyio.Event()
        self._creating = 0
        self._waiting: deque[str] = deque()
        self._fresh: dict[str, RunSnapshot] = {}  # of those, what was created here: it need not be read again
        self._working: dict[str, Work] = {}
        self._attention: set[str] = set()
        self._out_of_room: set[str] = set()
        self._refused: dict[str, str] = {}
        self._taking_up = False
        self._taken_up = 0

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        self._group.start_soon(self._dispatch)
        self._group.start_soon(self._watch_disk)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._group.cancel_scope.cancel()
        return await self._group.__aexit__(kind, error, trace)

    # ------------------------------------------------------------ what is going on

    @property
    def limits(self) -> RunLimits:
        return self._limits

    def adopt(self, limits: RunLimits) -> None:
        """Works within these limits from now on; runs beyond a lower one are worked on to their end."""
        self._limits = limits
        self._changed.set()

    @property
    def idle(self) -> bool:
        """Whether no run is being taken up, and none waits that could be."""
        if self._draining:
            return True
        may_take_up = self._waiting and len(self._working) < self._limits.running
        return not (self._taking_up or may_take_up)

    @property
    def taken_up(self) -> int:
        """How many times a run's turn has come."""
        return self._taken_up

    @property
    def running_count(self) -> int:
        return len(self._working)

    @property
    def waiting_count(self) -> int:
        return len(self._waiting) + self._creating

    @property
    def attention_count(self) -> int:
        """Runs that wait for a person, or for room on the disk."""
        return len(self._attention) + len(self._out_of_room)

    @property
    def out_of_room(self) -> bool:
        """Whether runs wait for room on the disk."""
        return bool(self._out_of_room)

    @property
    def refused(self) -> Sequence[str]:
        """Why runs of the journal could not be continued, in plain words."""
        return tuple(self._refused.values())

    # ------------------------------------------------------------ from outside

    async def resume(self) -> int:
        """Takes up every run that an earlier daemon left unfinished, oldest first; says how many."""
        run_ids: list[str] = []
        while page := await self._journal.list_runs(
            states=LIVE, before=run_ids[-1] if run_ids else "", limit=PAGE_RUNS
        ):
            run_ids.extend(summary.run_id for summary in page)
        self._waiting.extend(reversed(run_ids))
        self._changed.set()
        return len(run_ids)

    async def admit(self, created: Event) -> RunSnapshot:
        """Journals a new run and queues it; returns it once it is durable, and goes on without the caller.

        OverloadedError (reason TOO_MANY_RUNS) when too many wait already; what the journal raises.
        """
        self._admission.check()
        if self.waiting_count >= self._limits.waiting:
            raise OverloadedError(
                f"{self.waiting_count} runs wait for their turn already: try again when some have ended",
                reason="TOO_MANY_RUNS",
                retry_after_seconds=5.0,
            )
        creation = Creation(created, self._folding.created(created))
        self._creating += 1
        self._group.start_soon(self._create, creation)
        await creation.done.wait()
        if creation.error is not None:
            raise creation.error
        return creation.snapshot

    async def deliver(self, run_id: str, kind: EventKind) -> None:
        """Hands in what happened outside; returns once it is durable.

        A run that nobody works on is opened for it at once: a person's decision does not queue.
        NotFoundError when there is no such run, WrongStateError when its state does not admit this.
        """
        self._admission.check()
        with anyio.move_on_after(DELIVERY_SECONDS), self._feed.watch(run_id) as watcher:
            for _ in range(DELIVERY_ATTEMPTS):
                work, seq = await self._hand_in(run_id, kind)
                if await self._is_recorded(watcher, work, seq, kind):
                    return
        raise OverloadedError("the run is busy: ask again in a moment", reason="RUN_BUSY")

    async def drain(self, limit_seconds: float) -> int:
        """Parks every run and waits, at most so long; says how many were cut off all the same."""
        self._admission.drain()
        with anyio.move_on_after(limit_seconds):
            async with self._opening:
                works = tuple(self._working.values())
            for work in works:
                work.loop.park()
            for work in works:
                await work.done.wait()
        left = len(self._working)
        self._group.cancel_scope.cancel()
        return left

    # ------------------------------------------------------------ tasks

    async def _create(self, creation: Creation) -> None:
        try:
            with anyio.CancelScope(shield=True):  # else nobody could tell whether the run exists
                await self._journal.append([creation.created])
        except AeondError as error:
            creation.error = error
            if _is_fatal(error):
                raise
        else:
            self._feed.publish([creation.created])
            self._fresh[creation.created.run_id] = creation.snapshot
            self._waiting.append(creation.created.run_id)
            self._changed.set()
        finally:
            self._creating -= 1
            creation.done.set()

    async def _dispatch(self) -> None:
        """Gives free places to the runs that wait, in their order."""
        while True:
            self._changed = anyio.Event()
            while self._waiting and len(self._working) < self._limits.running and not self._draining:
                self._taking_up = True
                await self._take_up(self._waiting.popleft())
                self._taking_up = False
                self._taken_up += 1
            await self._changed.wait()

    async def _take_up(self, run_id: str) -> None:
        async with self._opening:
            if run_id in self._working or self._draining:
                return
            try:
                snapshot = await self._snapshot(run_id)
            except ReplayError as error:
                self._refused[run_id] = error.message
                log.warning("a run cannot be continued: %s", error, extra={"run_id": run_id})
                return
            if _needs_a_person(snapshot):
                self._attention.add(run_id)
            elif not snapshot.state.ended:
                loop = self._make_loop(snapshot)
                if snapshot.state is not RunState.PENDING or snapshot.parked:
                    loop.deliver(RunResumed())
                self._begin(loop)

    async def _hand_in(self, run_id: str, kind: EventKind) -> tuple[Work, int]:
        """The work that got it, and the last event before it."""
        async with self._opening:
            work = self._working.get(run_id)
            loop = self._make_loop(await self._snapshot(run_id)) if work is None else work.loop
            seq = loop.snapshot.seq
            loop.deliver(kind)
            return work or self._begin(loop), seq

    async def _snapshot(self, run_id: str) -> RunSnapshot:
        """The run as its events leave it; to be asked for by whoever opens it."""
        return self._fresh.pop(run_id, None) or await self._folding.snapshot(run_id)

    def _begin(self, loop: RunLoop) -> Work:
        run_id = loop.snapshot.run_id
        work = self._working[run_id] = Work(loop)
        self._attention.discard(run_id)
        self._out_of_room.discard(run_id)
        self._group.start_soon(self._work_on, run_id, work)
        return work

    async def _work_on(self, run_id: str, work: Work) -> None:
        try:
            snapshot = await self._boundary.execute(work.loop)
        except StoreError as error:
            if _is_fatal(error):
                raise
            self._out_of_room.add(run_id)
        else:
            if snapshot is not None and _needs_a_person(snapshot):
                self._attention.add(run_id)
            elif snapshot is not None and snapshot.state is RunState.SUSPENDED:
                self._out_of_room.add(run_id)
        finally:
            del self._working[run_id]
            work.done.set()
            self._feed.nudge(run_id)
            self._changed.set()

    async def _watch_disk(self) -> None:
        """Takes up runs again that were suspended for want of room, once the journal can be written."""
        while True:
            await self._clock.sleep_until(self._clock.monotonic() + DISK_PROBE_SECONDS)
            if not self._out_of_room:
                continue
            try:
                await self._journal.probe()
            except StoreError as error:
                if _is_fatal(error):
                    raise
                continue
            self._waiting.extend(sorted(self._out_of_room))
            self._out_of_room.clear()
            self._changed.set()

    async def _is_recorded(self, watcher: Watcher, work: Work, after_seq: int, kind: EventKind) -> bool:
        """Waits for the event that was handed in; false when the loop ended without it."""
        run_id, cursor = work.loop.snapshot.run_id, after_seq
        while True:
            ended = work.done.is_set()
            while page := await self._journal.read(run_id, cursor):
                if any(event.kind == kind for event in page):
                    return True
                cursor = page[-1].seq
            if ended:
                return False
            if watcher.go_hot(cursor):
                await watcher.take()

    @property
    def _draining(self) -> bool:
        return self._admission.state is AdmissionState.DRAINING


def _needs_a_person(snapshot: RunSnapshot) -> bool:
    """Whether the run goes on only when somebody decides or answers."""
    if snapshot.state is RunState.AWAITING_INPUT:
        return True
    return snapshot.state is RunState.SUSPENDED and snapshot.suspend_reason is not SuspendReason.DISK_FULL


def _is_fatal(error: AeondError) -> bool:
    """Whether the journal has failed for good: nothing can be acknowledged any more."""
    return isinstance(error, StoreError) and error.reason == "JOURNAL_FAILED"
