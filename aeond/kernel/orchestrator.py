"""The journaling loop of one run: fold, decide, journal, perform."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

import anyio
from anyio.abc import TaskGroup

from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.subtasks import Subtask
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.commands import Command, ExecuteStep, Interrupt, Operate, Record
from aeond.domain.runs.recorded_answer import as_recorded
from aeond.domain.runs.run import RunSnapshot, SuspendReason
from aeond.domain.tools import Recovery
from aeond.errors import OverloadedError, StoreError, WrongStateError
from aeond.frozen import frozen
from aeond.kernel.executor import StepExecutor
from aeond.ports import LOOP_ENDED, Appends, Clock, Feed, ImmediateWork, Phases, StepIntents
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold
from aeond.state_machine.transitions import admits

INBOX_SIZE: Final = 256
IMMEDIATE_SECONDS: Final = 0.01  # the maximum computing time of a turn: other runs wait for it


@frozen
class RunPorts:
    """The ports used by a run's loop."""

    journal: Appends
    feed: Feed
    phases: Phases
    intents: StepIntents
    immediate: ImmediateWork
    executor: StepExecutor
    clock: Clock


@dataclass(slots=True)
class Turn:
    """The events and commands of one iteration of the loop, before they are durable."""

    run: RunSnapshot
    time: float
    elapsed_seconds: float
    immediate_until: float  # by the monotonic clock
    events: list[e.Event] = field(default_factory=list)
    due: list[e.Intent] = field(default_factory=list)  # to be performed once the turn is durable
    interrupt: tuple[str, ...] = ()

    def record(self, kind: e.EventKind) -> None:
        kind = as_recorded(self.run, kind)
        event = e.Event(self.run.run_id, self.run.seq + 1, self.time, self.elapsed_seconds, kind)
        self.run = fold(self.run, event)
        self.events.append(event)
        if isinstance(kind, e.RunStarted | e.RunResumed):
            # a crash during computation must be counted, so this is journaled first
            self.immediate_until = 0.0


class Orchestrator:
    """Executes one run. `decide` alone determines its actions; see there for the theory of operation.

    Guarantees: an event is durable before it is shown, and before anything except pure computation depends on
    it; events that are due together are journaled in one append (a step's end and the next step's intent cost
    one commit); a run interrupted at any point continues from its journal.
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
            raise WrongStateError(f"this is not possible while the run is {self._run.state}")
        if self._closed:
            raise WrongStateError(f"the run is {self._run.state} and no longer executing", reason=LOOP_ENDED)
        if len(self._inbox) >= INBOX_SIZE:
            raise OverloadedError("too many requests for this run are queued", reason="RUN_BUSY")
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
        """One iteration of the loop; false if there is nothing left to wait for."""
        turn = self._advance()
        await self._commit(turn)
        for intent in turn.due:
            self._scopes[intent.key] = anyio.CancelScope()
            workers.start_soon(self._work, intent)
        for key in turn.interrupt:
            if key in self._scopes:
                self._scopes[key].cancel()
        return bool(self._scopes or self._inbox) and not self._run.state.ended and not self._run.parked

    def _begin_turn(self) -> Turn:
        now = self._ports.clock.monotonic()
        elapsed = self._elapsed_before + now - self._began
        return Turn(self._run, self._ports.clock.time(), elapsed, immediate_until=now + IMMEDIATE_SECONDS)

    def _advance(self) -> Turn:
        """Adds an event and everything that is due after it."""
        turn = self._begin_turn()
        while self._inbox:
            kind = self._inbox.popleft()
            if isinstance(kind, Subtask):
                self._begin_subtask(turn, kind)
            elif admits(turn.run, kind):  # otherwise too late to matter, such as a cancellation after the end
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
        """Whether the time is over, also if no alarm is set: a run of one turn sets none."""
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
            case Operate():
                intent = command.intent
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
            # Shielded: a cancelled caller must not leave snapshot and journal inconsistent.
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
        self._inbox.extend(e.PolicyDecided.of(intent.key, decided) for decided in grant.decisions)
        self._inbox.extend(kinds)
        self._news.set()

    async def _perform(self, intent: e.Intent, grant: Grant) -> tuple[e.EventKind | Subtask, ...]:
        ports, run = self._ports, self._run
        show = ports.feed.text_sink(run.run_id, intent.key)
        match intent:
            case e.StepStarted():
                # The events do not depend on whether the turn had time for the step.
                computed = ports.immediate.perform(intent, run)
                return computed or (await ports.executor.execute(run, intent, grant, show),)
            case e.ChildRunStarted(step_id, child):
                return await ports.executor.children.run(child, run, step_id, intent.reservation)
            case e.OperationStarted() | e.PlanningStarted() | e.AnswerStarted():
                progress = ports.feed.progress_sink(run.run_id)
                return await ports.phases.perform(intent.operation, run, grant, show, progress)
            case unknown:
                assert_never(unknown)

    async def _cut_short(self, intent: e.Intent, grant: Grant) -> e.EventKind:
        problem = Problem("INTERRUPTED", "interrupted: cancelled or out of time")
        if not isinstance(intent, e.StepIntent):
            return await self._ports.phases.conclude(intent.operation, self._run, problem, grant.used)
        # The use of a child run up to its interruption is not known here: count all of it.
        used = intent.reservation if isinstance(intent, e.ChildRunStarted) else grant.used
        ended = e.StepEnded(intent.key, StepState.SKIPPED, intent.mode, used=used)
        return replace(ended, error=problem.message, reason=problem.reason)

    async def _watch_wall_time(self) -> None:
        wall_seconds = self._run.ledger.limit.wall_seconds
        await self._ports.clock.sleep_until(self._began + wall_seconds - self._elapsed_before)
        self._inbox.append(e.BudgetExhausted("wall_seconds"))
        self._news.set()

    async def _suspend_for_disk(self, failure: StoreError) -> None:
        """Records the last event before the disk is full; interrupted work restarts by its recovery rule."""
        suspended = e.RunSuspended(SuspendReason.DISK_FULL, "the disk is full: free some space")
        if failure.reason != "DISK_FULL" or not admits(self._run, suspended):
            raise failure
        turn = self._begin_turn()
        turn.record(suspended)
        await self._commit(turn)
