"""The journaling loop of one run: fold, decide, journal, perform."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final

import anyio
from anyio.abc import TaskGroup

from aeond.domain import events as e
from aeond.domain.budgets import Amounts, Grant
from aeond.domain.outcome import Problem
from aeond.domain.plans import StepState
from aeond.domain.runs import PlanSource, RunSnapshot, SuspendReason
from aeond.domain.tools import Recovery
from aeond.domain.transitions import admits
from aeond.errors import OverloadedError, StoreError, WrongStateError
from aeond.kernel.commands import Command, ComposeAnswer, DraftPlan, ExecuteStep, Interrupt, Record
from aeond.kernel.decide import decide
from aeond.kernel.executor import StepExecutor
from aeond.kernel.fold import fold
from aeond.ports import Answerer, Clock, Feed, Journal, Planner, StepIntents, TextSink

OPERATION: Final = ""  # names the planning or answering in flight, where steps have their ids
INBOX_SIZE: Final = 256

Intent = e.PlanningStarted | e.StepStarted | e.AnswerStarted


@dataclass(frozen=True, slots=True)
class RunPorts:
    """What a run's loop works with."""

    journal: Journal
    feed: Feed
    planner: Planner
    answerer: Answerer
    intents: StepIntents
    executor: StepExecutor
    clock: Clock


@dataclass(slots=True)
class Turn:
    """What one round of the loop adds to a run, before it is durable."""

    run: RunSnapshot
    time: float
    elapsed_seconds: float
    events: list[e.Event] = field(default_factory=list)
    due: list[Intent] = field(default_factory=list)  # to be performed once it is
    interrupt: tuple[str, ...] = ()

    def record(self, kind: e.EventKind) -> None:
        event = e.Event(self.run.run_id, self.run.seq + 1, self.time, self.elapsed_seconds, kind)
        self.run = fold(self.run, event)
        self.events.append(event)


class Orchestrator:
    """Works on one run. What it does is decided by `decide` alone; see there for the theory.

    Guarantees: an event is durable before it is acted on or shown; events that are due together go into
    the journal in one append (a step's end and the next step's intent cost one commit); a run cut at any
    point continues from its journal.
    """

    def __init__(self, snapshot: RunSnapshot, ports: RunPorts) -> None:
        self._run = snapshot
        self._ports = ports
        self._inbox: deque[e.EventKind] = deque()
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
        await self._ports.executor.recall(self._run)
        async with anyio.create_task_group() as workers:
            workers.start_soon(self._watch_wall_time)
            try:
                while await self._turn(workers):
                    await self._news.wait()
                    self._news = anyio.Event()
            except StoreError as error:
                failure = error
            workers.cancel_scope.cancel()
        if failure is not None:
            await self._suspend_for_disk(failure)
        await self._ports.executor.forget(self._run)
        self._closed = True
        return self._run

    async def _turn(self, workers: TaskGroup) -> bool:
        """One round of the loop; false when there is nothing left to wait for."""
        turn = self._advance()
        await self._commit(turn)
        for intent in turn.due:
            key = intent.step.step_id if isinstance(intent, e.StepStarted) else OPERATION
            self._scopes[key] = anyio.CancelScope()
            workers.start_soon(self._work, key, intent)
        for key in turn.interrupt:
            if key in self._scopes:
                self._scopes[key].cancel()
        waiting = bool(self._scopes or self._inbox)
        return waiting and not self._run.state.ended and not self._run.parked

    def _begin_turn(self) -> Turn:
        clock = self._ports.clock
        return Turn(self._run, clock.time(), self._elapsed_before + clock.monotonic() - self._began)

    def _advance(self) -> Turn:
        """What happened and what is due after it."""
        turn = self._begin_turn()
        while self._inbox:
            kind = self._inbox.popleft()
            if admits(turn.run, kind):  # else it came too late to matter: a cancellation after the end
                turn.record(kind)
        if self._parking:
            if not self._scopes and admits(turn.run, e.RunParked()):
                turn.record(e.RunParked())
            harmless = (s.step_id for s in turn.run.steps.values() if s.recovery is Recovery.RERUN)
            turn.interrupt = (OPERATION, *harmless)
            return turn
        recorded = -1
        while recorded < len(turn.events):
            recorded = len(turn.events)
            for command in decide(turn.run):
                self._record_intent(turn, command)
        return turn

    def _record_intent(self, turn: Turn, command: Command) -> None:
        intent: Intent
        match command:
            case Record(kind):
                turn.record(kind)
                return
            case Interrupt(step_ids, operation):
                turn.interrupt = (*step_ids, OPERATION) if operation else step_ids
                return
            case DraftPlan(reservation):
                intent = e.PlanningStarted(reservation)
            case ExecuteStep(step_id, reservation):
                intent = self._ports.intents.prepare(turn.run, step_id, reservation)
            case ComposeAnswer(reservation):
                intent = e.AnswerStarted(reservation)
        turn.record(intent)
        turn.due.append(intent)

    async def _commit(self, turn: Turn) -> None:
        if turn.events:
            # Shielded: a cancelled caller must not leave it open whether snapshot or journal is right.
            with anyio.CancelScope(shield=True):
                await self._ports.journal.append(turn.events)
                self._run = turn.run
                self._ports.feed.publish(turn.events)

    async def _work(self, key: str, intent: Intent) -> None:
        grant = Grant(intent.reservation)
        kind: e.EventKind | None = None
        with self._scopes[key] as scope:
            kind = await self._perform(intent, grant)
        if scope.cancelled_caught and not self._parking:
            kind = await self._cut_short(intent, grant)
        del self._scopes[key]
        if kind is not None:
            self._inbox.append(kind)
        self._news.set()

    async def _perform(self, intent: Intent, grant: Grant) -> e.EventKind:
        match intent:
            case e.PlanningStarted():
                ok, draft, problem = await self._ports.planner.draft(self._run, grant, self._progress)
                if not ok:
                    return e.PlanningFailed(problem, grant.used)
                return e.PlanAdopted(draft.plan, PlanSource.MODEL, grant.used, draft.repairs)
            case e.StepStarted():
                show = self._text(intent.step.step_id)
                return await self._ports.executor.execute(self._run, intent, grant, show)
            case e.AnswerStarted():
                answer = await self._ports.answerer.compose(self._run, grant, self._text(OPERATION))
                return e.AnswerComposed(answer, grant.used)

    async def _cut_short(self, intent: Intent, grant: Grant) -> e.EventKind:
        match intent:
            case e.PlanningStarted():
                return e.PlanningFailed(Problem("INTERRUPTED", "planning was cut short"), grant.used)
            case e.StepStarted():
                ended = e.StepEnded(intent.step.step_id, StepState.SKIPPED, intent.mode, used=grant.used)
                return replace(ended, error="cut short: cancelled or out of time", reason="INTERRUPTED")
            case e.AnswerStarted():  # without a model there is always one
                nothing = Grant(Amounts())
                answer = await self._ports.answerer.compose(self._run, nothing, self._text(OPERATION))
                return e.AnswerComposed(answer, grant.used)

    def _text(self, step_id: str) -> TextSink:
        offset = 0

        def show(text: str) -> None:
            nonlocal offset
            offset = offset if text else 0
            self._ports.feed.update(e.TextDelta(self._run.run_id, step_id, text, offset))
            offset += len(text)

        return show

    def _progress(self, activity: str, fraction: float) -> None:
        self._ports.feed.update(e.Progress(self._run.run_id, OPERATION, activity, fraction))

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
