"""The journaling loop of one run: fold, decide, journal, perform."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final

import anyio
from anyio.abc import TaskGroup

from aeond.domain import events as e
from aeond.domain.budgets import Grant
from aeond.domain.commands import Command, ExecuteStep, Interrupt, Operate, Record
from aeond.domain.outcome import Problem
from aeond.domain.plans import StepState
from aeond.domain.runs import Operation, RunSnapshot, SuspendReason
from aeond.domain.tools import Recovery
from aeond.domain.transitions import admits
from aeond.errors import OverloadedError, StoreError, WrongStateError
from aeond.frozen import frozen
from aeond.kernel.decide import decide
from aeond.kernel.executor import StepExecutor, Subtask
from aeond.kernel.fold import fold
from aeond.ports import Clock, Feed, ImmediateWork, Journal, Phases, StepIntents

INBOX_SIZE: Final = 256
IMMEDIATE_SECONDS: Final = 0.01  # so long a turn may compute: others wait for it


@frozen
class RunPorts:
    """What a run's loop works with."""

    journal: Journal
    feed: Feed
    phases: Phases
    intents: StepIntents
    immediate: ImmediateWork
    executor: StepExecutor
    clock: Clock


@dataclass(slots=True)
class Turn:
    """What one round of the loop adds to a run, before it is durable."""

    run: RunSnapshot
    time: float
    elapsed_seconds: float
    immediate_until: float  # by the monotonic clock
    events: list[e.Event] = field(default_factory=list)
    due: list[e.Intent] = field(default_factory=list)  # to be performed once it is
    interrupt: tuple[str, ...] = ()

    def record(self, kind: e.EventKind) -> None:
        event = e.Event(self.run.run_id, self.run.seq + 1, self.time, self.elapsed_seconds, kind)
        self.run = fold(self.run, event)
        self.events.append(event)
        if isinstance(kind, e.RunStarted | e.RunResumed):
            self.immediate_until = 0.0  # a crash in what is computed has to be counted: this comes first


class Orchestrator:
    """Works on one run. What it does is decided by `decide` alone; see there for the theory.

    Guarantees: an event is durable before it is shown, and before anything but computing rests on it;
    events that are due together go into the journal in one append (a step's end and the next step's intent
    cost one commit); a run cut at any point continues from its journal.
    """

    def __init__(self, snapshot: RunSnapshot, ports: RunPorts) -> None:
        self._run = snapshot
        self._ports = ports
        self._inbox: deque[e.EventKind | Subtask] = deque()
        self._news = anyio.Event()
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._parking = False
        self._closed = False
        self._elapsed_before = snapshot.elapsed_seconds
        self._began = 0.0

    @property
    def snapshot(self) -> RunSnapshot:
        return self._run

    def deliver(self, kind: e.EventKind) -> None:
        if not admits(self._run, kind):
            raise WrongStateError(f"the run is {self._run.state}: that cannot be done to it now")
        if self._closed:
            raise WrongStateError(f"the run is {self._run.state} and no longer worked on")
        if len(self._inbox) >= INBOX_SIZE:
            raise OverloadedError("too many requests for this run are waiting", reason="RUN_BUSY")
        self._inbox.append(kind)
        self._news.set()

    def park(self) -> None:
        self._parking = True
        self._news.set()

    async def execute(self) -> RunSnapshot:
        self._began = self._ports.clock.monotonic()
        failure: StoreError | None = None
        async with anyio.create_task_group() as workers:
            try:
                if waiting := await self._turn(workers):
                    workers.start_soon(self._watch_wall_time)
                while waiting:
                    await self._news.wait()
                    self._news = anyio.Event()
                    waiting = await self._turn(workers)
            except StoreError as error:
                failure = error
            workers.cancel_scope.cancel()
        if failure is not None:
            await self._suspend_for_disk(failure)
        self._closed = True
        return self._run

    async def _turn(self, workers: TaskGroup) -> bool:
        """One round of the loop; false when there is nothing left to wait for."""
        turn = self._advance()
        await self._commit(turn)
        for intent in turn.due:
            self._scopes[intent.key] = anyio.CancelScope()
            workers.start_soon(self._work, intent)
        for key in turn.interrupt:
            if key in self._scopes:
                self._scopes[key].cancel()
        waiting = bool(self._scopes or self._inbox)
        return waiting and not self._run.state.ended and not self._run.parked

    def _begin_turn(self) -> Turn:
        now = self._ports.clock.monotonic()
        elapsed = self._elapsed_before + now - self._began
        return Turn(self._run, self._ports.clock.time(), elapsed, immediate_until=now + IMMEDIATE_SECONDS)

    def _advance(self) -> Turn:
        """What happened and what is due after it."""
        turn = self._begin_turn()
        while self._inbox:
            kind = self._inbox.popleft()
            if isinstance(kind, Subtask):
                self._begin_subtask(turn, kind)
            elif admits(turn.run, kind):  # else it came too late to matter: a cancellation after the end
                turn.record(kind)
        if self._parking:
            if not self._scopes and admits(turn.run, e.RunParked()):
                turn.record(e.RunParked())
            harmless = (s.step_id for s in turn.run.steps.values() if s.recovery is Recovery.RERUN)
            turn.interrupt = (e.RUN_KEY, *harmless)
            return turn
        recorded = -1
        while recorded < len(turn.events):
            recorded = len(turn.events)
            if self._out_of_time(turn):
                turn.record(e.BudgetExhausted("wall_seconds"))
            for command in decide(turn.run):
                self._record_intent(turn, command)
        return turn

    def _out_of_time(self, turn: Turn) -> bool:
        """Whether the time is over, also where no alarm says so: a run of one turn sets none."""
        run, out = turn.run, e.BudgetExhausted("wall_seconds")
        over = turn.elapsed_seconds >= run.ledger.limit.wall_seconds
        return over and not run.exhausted and run.answer is None and admits(run, out)

    def _record_intent(self, turn: Turn, command: Command) -> None:
        intent: e.Intent
        match command:
            case Record(kind):
                turn.record(kind)
                return
            case Interrupt(step_ids, operation):
                turn.interrupt = (*step_ids, e.RUN_KEY) if operation else step_ids
                return
            case Operate(Operation.PLAN, reservation):
                intent = e.PlanningStarted(reservation)
            case Operate(Operation.ANSWER, reservation):
                intent = e.AnswerStarted(reservation)
            case Operate(operation, reservation):
                intent = e.OperationStarted(operation, reservation)
            case ExecuteStep(step_id, reservation):
                intent = self._ports.intents.prepare(turn.run, step_id, reservation)
        turn.record(intent)
        may = self._ports.clock.monotonic() < turn.immediate_until
        ends = self._ports.immediate.perform(intent, turn.run) if may else ()
        for kind in ends:
            turn.record(kind)
        if not ends:
            turn.due.append(intent)

    def _begin_subtask(self, turn: Turn, wanted: Subtask) -> None:
        intent = self._ports.intents.prepare_child(turn.run, wanted.step_id, wanted.request, wanted.used)
        turn.record(intent)
        if isinstance(intent, e.ChildRunStarted):
            turn.due.append(intent)

    async def _commit(self, turn: Turn) -> None:
        if turn.events:
            # Shielded: a cancelled caller must not leave it open whether snapshot or journal is right.
            with anyio.CancelScope(shield=True):
                await self._ports.journal.append(turn.events)
                self._run = turn.run
                self._ports.feed.publish(turn.events)

    async def _work(self, intent: e.Intent) -> None:
        grant = Grant(intent.reservation)
        kinds: tuple[e.EventKind | Subtask, ...] = ()
        with self._scopes[intent.key] as scope:
            kinds = await self._perform(intent, grant)
        if scope.cancelled_caught and not self._parking:
            kinds = (await self._cut_short(intent, grant),)
        del self._scopes[intent.key]
        self._inbox.extend(kinds)
        self._news.set()

    async def _perform(self, intent: e.Intent, grant: Grant) -> tuple[e.EventKind | Subtask, ...]:
        ports, run = self._ports, self._run
        show = ports.feed.text_sink(run.run_id, intent.key)
        match intent:
            case e.StepStarted():
                return (await ports.executor.execute(run, intent, grant, show),)
            case e.ChildRunStarted(step_id, child):
                return await ports.executor.children.run(child, run, step_id, intent.reservation)
            case _:
                progress = ports.feed.progress_sink(run.run_id)
                return await ports.phases.perform(intent.operation, run, grant, show, progress)

    async def _cut_short(self, intent: e.Intent, grant: Grant) -> e.EventKind:
        problem = Problem("INTERRUPTED", "cut short: cancelled or out of time")
        if not isinstance(intent, e.StepIntent):
            return await self._ports.phases.conclude(intent.operation, self._run, problem, grant.used)
        # What a child run used until it was told to stop is not known here: count all of it.
        used = intent.reservation if isinstance(intent, e.ChildRunStarted) else grant.used
        ended = e.StepEnded(intent.key, StepState.SKIPPED, intent.mode, used=used)
        return replace(ended, error=problem.message, reason=problem.reason)

    async def _watch_wall_time(self) -> None:
        wall_seconds = self._run.ledger.limit.wall_seconds
        await self._ports.clock.sleep_until(self._began + wall_seconds - self._elapsed_before)
        self._inbox.append(e.BudgetExhausted("wall_seconds"))
        self._news.set()

    async def _suspend_for_disk(self, failure: StoreError) -> None:
        """The last event before there is no room; what was under way starts again by its recovery rule."""
        suspended = e.RunSuspended(SuspendReason.DISK_FULL, "the disk is full; free some room")
        if failure.reason != "DISK_FULL" or not admits(self._run, suspended):
            raise failure
        turn = self._begin_turn()
        turn.record(suspended)
        await self._commit(turn)
