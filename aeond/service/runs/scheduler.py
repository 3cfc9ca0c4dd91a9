"""Schedules runs: admission, resumption, delivery of external events, and orderly stop.

Lifecycle: `async with scheduler` provides a task group; `resume` continues the runs of an earlier daemon; `admit` and `deliver`
serve clients; `drain` parks everything. Loops are opened under one lock, so at most one loop at a time works on a run.

A run that waits for a person, or only for such runs, has no loop and occupies no slot. A child run uses the slot of the run that
waits for it, so that no tree of runs waits for a slot that it occupies itself; and it does not outlive its parent.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import anyio
from anyio.abc import TaskGroup

from aeond.domain.runs.events import CancelRequested, Event, EventKind, RunCreated, RunResumed
from aeond.domain.runs.run import RunSnapshot, RunState, SuspendReason
from aeond.errors import AeondError, NotFoundError, OverloadedError, ReplayError, StoreError, WrongStateError
from aeond.ports import Clock, Journal, RunLoop, RunLoopFactory
from aeond.service.folding import RunFolding
from aeond.service.recovery.disk_space import DiskSpaceWait
from aeond.service.recovery.run_boundary import RunBoundary
from aeond.service.recovery.waiting import (
    IdleRuns,
    called_off,
    needs_a_person,
    started_runs,
    waits_for_runs,
    was_cut,
)
from aeond.service.runs.admission import Admission, AdmissionState
from aeond.service.runs.deadlines import Deadlines
from aeond.service.runs.run_queue import RunLimits, RunQueue
from aeond.service.runs.work import Creation, Work, caught_up, is_fatal, is_recorded, started, unfinished
from aeond.service.runs.workspaces import Workspaces
from aeond.service.watching.feed import HotFeed

DELIVERY_SECONDS: Final = 60.0
DELIVERY_ATTEMPTS: Final = 3

log = logging.getLogger("aeond.runs")


class RunScheduler:
    """Owns every active run. Ends with StoreError if the journal can no longer be written."""

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
        workspaces: Workspaces,
    ) -> None:
        self._journal = journal
        self._feed = feed
        self._folding = folding
        self._boundary = boundary
        self._admission = admission
        self._make_loop = make_loop
        self._clock = clock
        self._limits = limits
        self._workspaces = workspaces
        self._opening = anyio.Lock()
        self._changed = anyio.Event()
        self._waiting = RunQueue()
        self._fresh: dict[str, RunSnapshot] = {}  # of runs created here: they need not be read again
        self._working: dict[str, Work] = {}
        self._idle_runs = IdleRuns()
        self._deadlines = Deadlines(clock, feed.attended, lambda: self._limits.attend_seconds)
        self._out_of_room = DiskSpaceWait(journal, clock)
        self._refused: dict[str, str] = {}
        self._taking_up = False
        self._taken_up = 0

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        self._group.start_soon(self._dispatch)
        self._group.start_soon(self._out_of_room.watch, self._queue)
        self._group.start_soon(self._deadlines.run, self.deliver)
        self._feed.listen(self._deadlines.hear)
        self._feed.listen(self._hear)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._admission.drain()  # the next daemon continues runs interrupted from now on
        self._group.cancel_scope.cancel()
        return await self._group.__aexit__(kind, error, trace)

    # ------------------------------------------------------------ state

    @property
    def limits(self) -> RunLimits:
        return self._limits

    def adopt(self, limits: RunLimits) -> None:
        """Applies these limits from now on; runs beyond a lowered limit continue to their end."""
        self._limits = limits
        self._changed.set()

    @property
    def idle(self) -> bool:
        """Whether no run is active and no waiting run could be started."""
        return self._draining or not (self._taking_up or self._waiting.next_user(self._has_place) is not None)

    @property
    def taken_up(self) -> int:
        """How often a run was given a slot."""
        return self._taken_up

    @property
    def running_count(self) -> int:
        return len(self._working)

    @property
    def waiting_count(self) -> int:
        return len(self._waiting)

    def waiting_for_own(self, uid: int) -> Sequence[str]:
        """The runs of this user that wait for a slot while the user's other runs have as many as one user may have."""
        return self._waiting.of(uid) if self._users_at_work().count(uid) >= self._limits.of_user else ()

    @property
    def attention_count(self) -> int:
        """The number of runs that wait for a person or for disk space."""
        return len(self._idle_runs) + len(self._out_of_room)

    @property
    def out_of_room(self) -> bool:
        """Whether runs wait for disk space."""
        return len(self._out_of_room) > 0

    @property
    def refused(self) -> Sequence[str]:
        """Descriptions of runs in the journal that could not be resumed."""
        return tuple(self._refused.values())

    # ------------------------------------------------------------ calls from outside

    async def resume(self) -> int:
        """Resumes every unfinished run of an earlier daemon; returns their number."""
        runs = await unfinished(self._journal)
        for run in runs:
            self._queue(run.run_id, run.uid)
        return len(runs)

    async def admit(self, *events: Event) -> RunSnapshot:
        """Journals the first events of a new run and queues it. Returns it once they are durable; it continues in the background.

        OverloadedError (reason USER_RUNS or TOO_MANY_RUNS) if too many are waiting; also the errors of the journal.
        """
        self._admission.check()
        created = events[0].kind
        assert isinstance(created, RunCreated), "no event precedes the creation of a run"
        uid = created.request.owner.uid
        if len(events) == 1 and self._has_place(uid) and not self._waiting.count(uid):
            events = (*events, started(events[0]))  # RunStarted costs no commit of its own
        creation = Creation(events, self._folding.folded(events))
        self._waiting.reserve(uid, self._limits)
        self._group.start_soon(self._create, creation)
        await creation.done.wait()
        if creation.error is not None:
            raise creation.error
        return creation.snapshot

    async def start(self, created: Event) -> None:
        """Journals a child run and executes it at once; raises the errors of the journal."""
        with anyio.CancelScope(shield=True):  # otherwise it would be unknown whether the run exists
            await self._journal.append([created])
        self._fresh[created.run_id] = self._folding.folded([created])
        self._feed.publish([created])
        await self.join(created.run_id)

    async def join(self, run_id: str) -> None:
        """Continues a child run, unless it waits for a person or has ended."""
        await self._take_up(run_id, wanted=True)

    def is_parking(self, run_id: str) -> bool:
        """Whether the run is being parked, to be resumed later."""
        work = self._working.get(run_id)
        return work is not None and work.parking

    async def deliver(self, run_id: str, kind: EventKind) -> None:
        """Delivers an external event; returns once it is durable.

        A run without a loop is opened at once, without queueing. NotFoundError; WrongStateError: its state does not admit the event."""
        self._admission.check()
        with anyio.move_on_after(DELIVERY_SECONDS), self._feed.watch(run_id) as watcher:
            for _ in range(DELIVERY_ATTEMPTS):
                try:
                    work, seq = await self._hand_in(run_id, kind)
                except WrongStateError as error:
                    if await caught_up(self._working.get(run_id), self._folding, watcher, kind, error):
                        continue
                    raise
                if await is_recorded(self._journal, watcher, work, seq, kind):
                    return
        raise OverloadedError("the run is busy: retry in a few seconds", reason="RUN_BUSY")

    async def drain(self, limit_seconds: float) -> int:
        """Parks every run, with a time limit; returns the number of runs that had to be interrupted."""
        self._admission.drain()
        with anyio.move_on_after(limit_seconds):
            async with self._opening:
                works = tuple(self._working.values())
            for work in works:
                work.park()
            for work in works:
                await work.done.wait()
        left = len(self._working)
        self._group.cancel_scope.cancel()
        return left

    # ------------------------------------------------------------ tasks

    def _queue(self, run_id: str, uid: int) -> None:
        self._waiting.add(run_id, uid)
        self._changed.set()

    async def _create(self, creation: Creation) -> None:
        try:
            with anyio.CancelScope(shield=True):  # otherwise it would be unknown whether the run exists
                await self._journal.append(creation.events)
        except AeondError as error:
            creation.error = error
            if is_fatal(error):
                raise
        else:
            self._feed.publish(creation.events)
            self._fresh[creation.snapshot.run_id] = creation.snapshot
            self._queue(creation.snapshot.run_id, creation.snapshot.request.owner.uid)
        finally:
            self._waiting.release(creation.snapshot.request.owner.uid)
            creation.done.set()

    async def _dispatch(self) -> None:
        """Assigns free slots to the waiting runs, in the order of the queue."""
        while True:
            self._changed = anyio.Event()
            while not self._draining and (uid := self._waiting.next_user(self._has_place)) is not None:
                self._taking_up = True
                run_id = self._waiting.take(uid)
                try:
                    await self._take_up(run_id)
                except StoreError as error:
                    if not error.retryable:
                        raise
                    self._out_of_room.add(run_id, uid)
                self._taking_up = False
                self._taken_up += 1
            self._feed.show_queue(self._waiting)
            await self._changed.wait()

    async def _take_up(self, run_id: str, *, wanted: bool = False) -> None:
        """Executes a run if there is something to do; a child run only if its parent waits for it."""
        async with self._opening:
            if run_id in self._working or self._draining:
                return
            fresh = run_id in self._fresh
            try:
                snapshot = await self._snapshot(run_id)
            except ReplayError as error:
                self._refused[run_id] = error.message
                log.warning("a run cannot be resumed: %s", error, extra={"run_id": run_id})
                return
            except NotFoundError:  # it was cancelled and deleted while it waited for the lock
                return
            self._deadlines.restore(snapshot)
            parent_run_id = snapshot.ancestry.parent_run_id
            orphan = bool(parent_run_id) and await self._has_ended(parent_run_id)
            if snapshot.state.ended:
                return
            if needs_a_person(snapshot) and not orphan:
                self._hold(snapshot)
            elif waits_for_runs(snapshot, self._idle_runs.__contains__) and not orphan:
                self._idle_runs.rest(run_id)
                self._rest(parent_run_id)
            elif orphan or wanted or not parent_run_id or parent_run_id in self._working:
                loop = self._make_loop(snapshot)
                begun = snapshot.parked or not (fresh or snapshot.state is RunState.PENDING)
                if begun and snapshot.suspend_reason in (None, SuspendReason.DISK_FULL):
                    loop.deliver(RunResumed())
                if not fresh:
                    await self._workspaces.suspend_if_changed(loop)
                if orphan and not snapshot.cancel_requested:
                    loop.deliver(called_off(snapshot))
                self._begin(loop)
            elif self._idle_runs.rouse(parent_run_id):  # it continues when its parent does
                self._queue(parent_run_id, snapshot.request.owner.uid)

    async def _hand_in(self, run_id: str, kind: EventKind) -> tuple[Work, int]:
        """The work that received the event, and the last event before it."""
        async with self._opening:
            work = self._working.get(run_id)
            loop = self._make_loop(await self._snapshot(run_id)) if work is None else work.loop
            if work is None and was_cut(loop.snapshot) and loop.snapshot.state is not RunState.SUSPENDED:
                loop.deliver(RunResumed())
            seq = loop.snapshot.seq
            loop.deliver(kind)
            if work is None and not isinstance(kind, CancelRequested):
                await self._workspaces.suspend_if_changed(loop)
            return work or self._begin(loop), seq

    async def _snapshot(self, run_id: str) -> RunSnapshot:
        """The run as folded from its events; called by the code that opens it."""
        return self._fresh.pop(run_id, None) or await self._folding.snapshot(run_id)

    def _begin(self, loop: RunLoop) -> Work:
        run_id, parent_run_id = loop.snapshot.run_id, loop.snapshot.ancestry.parent_run_id
        uid = loop.snapshot.request.owner.uid
        work = self._working[run_id] = Work(loop)
        if self._waiting.discard(run_id, uid):  # a delivery does not queue
            self._changed.set()
        self._idle_runs.rouse(run_id)
        if self._idle_runs.rouse(parent_run_id):
            self._queue(parent_run_id, uid)
        self._out_of_room.discard(run_id)
        self._group.start_soon(self._work_on, run_id, work)
        return work

    async def _work_on(self, run_id: str, work: Work) -> None:
        try:
            snapshot = await self._boundary.execute(work.loop)
        except StoreError as error:
            if is_fatal(error):
                raise
            self._out_of_room.add(run_id, work.loop.snapshot.request.owner.uid)
        else:
            self._settle(work.loop.snapshot, broken=snapshot is None)
        finally:
            del self._working[run_id]
            work.done.set()
            self._feed.nudge(run_id)
            self._changed.set()

    def _settle(self, run: RunSnapshot, *, broken: bool) -> None:
        """Handles a run whose loop has ended."""
        if broken or run.state.ended:
            for run_id in started_runs(run):
                self._group.start_soon(self._call_off, run_id, run)
        elif needs_a_person(run):
            self._hold(run)
        elif run.state is RunState.SUSPENDED:
            self._out_of_room.add(run.run_id, run.request.owner.uid)
        elif run.parked and not self._draining:
            self._queue(run.run_id, run.request.owner.uid)  # the runs it waited for may have continued

    # ------------------------------------------------------------ trees of runs

    def _hold(self, run: RunSnapshot) -> None:
        """Marks the run as waiting for a person; its parent may have nothing else to do either."""
        self._idle_runs.wait(run.run_id)
        self._rest(run.ancestry.parent_run_id)

    def _rest(self, run_id: str) -> None:
        """Parks a run that only waits for idle runs, so that its time does not pass meanwhile."""
        work = self._working.get(run_id)
        if work is not None and waits_for_runs(work.loop.snapshot, self._idle_runs.__contains__):
            work.park()

    def _hear(self, events: Sequence[Event]) -> None:
        if len(self._idle_runs):
            for run_id in {event.run_id for event in events}:
                self._rest(run_id)

    async def _call_off(self, run_id: str, parent: RunSnapshot) -> None:
        """Cancels the unfinished child runs of this run (a fork only joined them)."""
        with suppress(AeondError):  # a run that is not cancelled now is cancelled when it is resumed
            run = await self._folding.snapshot(run_id)
            if run.ancestry.parent_run_id == parent.run_id and not run.state.ended:
                await self.deliver(run_id, called_off(parent))

    async def _has_ended(self, run_id: str) -> bool:
        summary = await self._journal.summary(run_id)
        return summary is None or summary.state.ended

    def _has_place(self, uid: int) -> bool:
        """Whether another run of this user may be active; child runs use no slot of their own."""
        users = self._users_at_work()
        return len(users) < self._limits.running and users.count(uid) < self._limits.running_per_user

    def _users_at_work(self) -> list[int]:
        runs = [work.loop.snapshot for work in self._working.values()]
        return [run.request.owner.uid for run in runs if not run.ancestry.parent_run_id]

    @property
    def _draining(self) -> bool:
        return self._admission.state is AdmissionState.DRAINING
