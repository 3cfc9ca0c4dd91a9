"""A simulated host for the kernel: performs its commands with outcomes and crashes chosen by a test."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from aeond.domain import events as e
from aeond.domain.budgets import Amounts, Budget
from aeond.domain.outcome import Problem
from aeond.domain.plans import Plan, StepState
from aeond.domain.runs import Answer, PlanSource, RunRequest, RunSnapshot
from aeond.domain.steps import StepMode
from aeond.domain.tools import Recovery
from aeond.domain.transitions import admits
from aeond.kernel.commands import ComposeAnswer, DraftPlan, ExecuteStep, Interrupt, Record
from aeond.kernel.decide import decide
from aeond.kernel.fold import fold


@dataclass(frozen=True)
class StepScript:
    """How a step goes when it is executed."""

    state: StepState = StepState.SUCCEEDED
    recovery: Recovery = Recovery.RERUN
    repairs: int = 0  # times that it comes back as repaired before it ends


@dataclass
class SimulatedHost:
    """Works on one run until nothing is left to do, in the order that `choose` picks.

    `choose(n)` returns an index below n; `spend(reservation)` returns what an operation used of it;
    `crash_before(seq)` says whether the host dies before the event of that seq is journaled.
    """

    plan: Plan
    budget: Budget
    scripts: dict[str, StepScript] = field(default_factory=dict)
    given: bool = False  # the client gave the plan
    planning_fails: bool = False
    parallel_steps: int = 4
    choose: Callable[[int], int] = lambda _: 0
    spend: Callable[[Amounts], Amounts] = lambda reservation: reservation
    crash_before: Callable[[int], bool] = lambda _: False
    outside: dict[int, e.EventKind] = field(default_factory=dict)  # what a client sends after which turn
    journal: list[e.Event] = field(default_factory=list)
    crashes: int = 0

    def __post_init__(self) -> None:
        self.run = RunSnapshot("run")
        self.in_flight: list[e.PlanningStarted | e.StepStarted | e.AnswerStarted] = []
        self.repaired: dict[str, int] = {}

    def work(self, turns: int = 2_000) -> RunSnapshot:
        """The run as it ends or waits for a person; AssertionError when it does neither within the turns."""
        request = RunRequest("a request", parallel_steps=self.parallel_steps)
        self._record(e.RunCreated(request, self.budget, self.plan if self.given else None))
        for turn in range(turns):
            if turn in self.outside and admits(self.run, self.outside[turn]):
                self._record(self.outside[turn])
            interrupted = self._obey()
            if not self.in_flight:
                return self.run
            if self.crash_before(self.run.seq + 1):
                self._crash()
            else:
                intent = self.in_flight.pop(self.choose(len(self.in_flight)))
                self._record(self._outcome(intent, interrupted))
        raise AssertionError(f"no end after {turns} turns: {self.run}")

    def _record(self, kind: e.EventKind) -> None:
        event = e.Event("run", self.run.seq + 1, float(self.run.seq + 1), 0.0, kind)
        self.run = fold(self.run, event)
        self.journal.append(event)
        left = self.run.ledger.left
        assert not Amounts().exceeding(left), f"overshot: {left}"

    def _obey(self) -> frozenset[str]:
        while commands := decide(self.run):
            for command in commands:
                match command:
                    case Record(kind):
                        self._record(kind)
                    case DraftPlan(reservation):
                        self._begin(e.PlanningStarted(reservation))
                    case ComposeAnswer(reservation):
                        self._begin(e.AnswerStarted(reservation))
                    case ExecuteStep(step_id, reservation):
                        self._begin(self._started(step_id, reservation))
                    case Interrupt(step_ids, operation):
                        return frozenset((*step_ids, "") if operation else step_ids)
        return frozenset()

    def _begin(self, intent: e.PlanningStarted | e.StepStarted | e.AnswerStarted) -> None:
        self._record(intent)
        self.in_flight.append(intent)

    def _started(self, step_id: str, reservation: Amounts) -> e.StepStarted:
        current = self.run.steps[step_id]
        for dependency in current.step.depends_on:
            assert self.run.steps[dependency].state is StepState.SUCCEEDED, f"{step_id} before {dependency}"
        script = self.scripts.get(step_id, StepScript())
        repair = self.repaired.get(step_id, 0) < script.repairs
        mode = StepMode.REPAIR if repair else StepMode.TOOL if current.step.tool_call else StepMode.AGENT
        recovery = Recovery.RERUN if repair else script.recovery
        return e.StepStarted(current.step, current.attempt + 1, mode, recovery, reservation)

    def _outcome(
        self, intent: e.PlanningStarted | e.StepStarted | e.AnswerStarted, interrupted: frozenset[str]
    ) -> e.EventKind:
        used = self.spend(intent.reservation)
        match intent:
            case e.PlanningStarted():
                if self.planning_fails or "" in interrupted:
                    return e.PlanningFailed(Problem("NO_PLAN", "there is no plan"), used)
                return e.PlanAdopted(self.plan, PlanSource.MODEL, used)
            case e.AnswerStarted():
                return e.AnswerComposed(Answer("an answer"), used)
            case e.StepStarted():
                step_id = intent.step.step_id
                if intent.mode is StepMode.REPAIR:
                    self.repaired[step_id] = self.repaired.get(step_id, 0) + 1
                    return e.StepRepaired(intent.step, Problem("X", "mended"), replace(used, ttl=0))
                state = self.scripts.get(step_id, StepScript()).state
                if step_id in interrupted:
                    state = StepState.SKIPPED
                return e.StepEnded(step_id, state, intent.mode, output=f"output of {step_id}", used=used)

    def _crash(self) -> None:
        self.in_flight.clear()
        self.crashes += 1
        self.run = RunSnapshot("run")
        for event in self.journal:  # all that a new daemon has
            self.run = fold(self.run, event)
        self._record(e.RunResumed())
