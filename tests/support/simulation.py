"""A simulated host for the kernel: performs its commands with outcomes and crashes chosen by a test."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from zlib import crc32

from aeond.domain.outcome import Problem
from aeond.domain.plans.evaluations import Evaluation, RefinementAction, RefinementOperation
from aeond.domain.plans.plan import MAX_PLAN_STEPS, Plan, PlanStep, StepState
from aeond.domain.plans.profiles import Route, TaskProfile
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.commands import ExecuteStep, Interrupt, Operate, Record
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Answer, Operation, Owner, PlanSource, RunRequest, RunSnapshot, RunState
from aeond.domain.tools import Recovery, ToolCall
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold
from aeond.state_machine.transitions import admits

CHATTING = 3  # the logic version since which a request may be replied to while it is routed


@dataclass(frozen=True)
class StepScript:
    """How a step goes when it is executed."""

    state: StepState = StepState.SUCCEEDED
    recovery: Recovery = Recovery.RERUN
    repairs: int = 0  # times that it comes back as repaired before it ends
    asks: bool = False  # a person must answer
    subtask: bool = False  # a run of its own does the work


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
    logic_version: int = e.LOGIC_VERSION
    in_session: bool = False
    character: int = 0  # of its judgements: the same at the same point of a run, whatever happened before
    choose: Callable[[int], int] = lambda _: 0
    spend: Callable[[Amounts], Amounts] = lambda reservation: reservation
    crash_before: Callable[[int], bool] = lambda _: False
    outside: dict[int, e.EventKind] = field(default_factory=dict)  # events of a client by iteration
    journal: list[e.Event] = field(default_factory=list)
    crashes: int = 0

    def __post_init__(self) -> None:
        self.run = RunSnapshot("run")
        self.in_flight: list[e.Intent] = []
        self.repaired: dict[str, int] = {}

    def work(self, turns: int = 2_000) -> RunSnapshot:
        """The run as it ends or waits for a person; AssertionError when it does neither within the turns."""
        session = "a session" if self.in_session else ""
        request = RunRequest("a request", session_id=session, parallel_steps=self.parallel_steps)
        given = self.plan if self.given else None
        self._record(e.RunCreated(request, self.budget, given, self.logic_version))
        for turn in range(turns):
            if turn in self.outside and admits(self.run, self.outside[turn]):
                self._record(self.outside[turn])
            interrupted = self._obey()
            if not self.in_flight:
                if self.run.state is not RunState.AWAITING_INPUT:
                    return self.run
                self._record(e.InputAnswered(self.run.questions[0].question_id, "an answer", Owner()))
                continue
            if self.crash_before(self.run.seq + 1):
                self._crash()
            else:
                intent = self.in_flight.pop(self.choose(len(self.in_flight)))
                for kind in self._outcome(intent, interrupted):
                    self._record(kind)
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
                    case Operate():
                        self._begin(command.intent)
                    case ExecuteStep(step_id, reservation):
                        self._begin(self._started(step_id, reservation))
                    case Interrupt(step_ids, operation):
                        return frozenset((*step_ids, "") if operation else step_ids)
        return frozenset()

    def _begin(self, intent: e.Intent) -> None:
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

    def _outcome(self, intent: e.Intent, interrupted: frozenset[str]) -> tuple[e.EventKind, ...]:
        used = self.spend(intent.reservation)
        match intent:
            case e.StepStarted():
                return (self._step_outcome(intent, used, interrupted),)
            case e.ChildRunStarted(step_id, child):
                ended = e.ChildRunEnded(step_id, child.child_run_id, RunState.SUCCEEDED, used)
                state = StepState.SKIPPED if step_id in interrupted else StepState.SUCCEEDED
                return ended, e.StepEnded(step_id, state, StepMode.TOOL, output="a child's", used=used)
            case _:
                return self._judgement(intent.operation, used, "" in interrupted)

    def _step_outcome(self, intent: e.StepStarted, used: Amounts, interrupted: frozenset[str]) -> e.EventKind:
        step_id = intent.step.step_id
        script = self.scripts.get(step_id, StepScript())
        if intent.mode is StepMode.REPAIR:
            self.repaired[step_id] = self.repaired.get(step_id, 0) + 1
            return e.StepRepaired(intent.step, Problem("X", "mended"), replace(used, ttl=0))
        if step_id in interrupted:
            return e.StepEnded(step_id, StepState.SKIPPED, intent.mode, used=used)
        if script.asks:
            question = Question(f"{step_id}.{intent.attempt}", step_id, InputRequest("which?"), 0.0)
            return e.InputRequested(question, used)
        if script.subtask and self.run.steps[step_id].child is None:
            ledger = self.run.ledger.settle(intent.reservation, used)
            child = ChildRun(f"child-{step_id}", "any", ledger.share(0.0), SubtaskRequest("do it"))
            started = e.ChildRunStarted(step_id, child, used)
            self.in_flight.append(started)
            return started
        return e.StepEnded(step_id, script.state, intent.mode, output=f"output of {step_id}", used=used)

    def _judgement(self, operation: Operation, used: Amounts, cut: bool) -> tuple[e.EventKind, ...]:
        match operation:
            case Operation.RESOLVE:
                return (e.ReferencesResolved("a request", "a clear request", used=used),)
            case Operation.ROUTE:
                route = (Route.PLAN, Route.DIRECT, Route.REPLY)[self._judge(3)]
                chosen = e.RouteChosen(route, used=used)
                direct = e.PlanAdopted(Plan("a goal", self.plan.steps[:1]), PlanSource.MODEL)
                if route is Route.REPLY and self.run.logic_version >= CHATTING and self._judge(2):
                    return (chosen, e.AnswerComposed(Answer("replied", synthesized=True)))
                alone = route is Route.DIRECT and not self.plan.steps[0].depends_on
                return (chosen, direct) if alone else (chosen,)
            case Operation.PROFILE:
                inferred = e.ProfileInferred(TaskProfile(), used=used)
                return (inferred, e.BudgetAdjusted(self.budget)) if self._judge(2) else (inferred,)
            case Operation.PLAN:
                if self.planning_fails or cut:
                    return (e.PlanningFailed(Problem("NO_PLAN", "there is no plan"), used),)
                return (e.PlanAdopted(self.plan, PlanSource.MODEL, used),)
            case Operation.EVALUATE:
                evaluation = Evaluation(self.run.pass_index, converged=bool(self._judge(2)))
                evaluated = e.PassEvaluated(evaluation, used)
                at_once = not evaluation.converged and bool(self._judge(2))
                return (evaluated, self._refinement(Amounts())) if at_once else (evaluated,)
            case Operation.REFINE:
                return (self._refinement(used),)
            case Operation.ANSWER:
                return (e.AnswerComposed(Answer("an answer"), used),)

    def _judge(self, count: int) -> int:
        point = f"{self.character} {self.run.phase} {self.run.pass_index} {self.run.refinement_count} {count}"
        return crc32(point.encode()) % count

    def _refinement(self, used: Amounts) -> e.PlanRefined:
        """No refinement, or one more step: the requests of an eager model without end."""
        assert self.run.plan is not None
        if self._judge(3) == 0 or len(self.run.plan.steps) >= MAX_PLAN_STEPS:
            return e.PlanRefined(self.run.plan, used=used)
        step = PlanStep(f"r{len(self.run.plan.steps)}", "one more", ToolCall("echo"))
        plan = replace(self.run.plan, steps=(*self.run.plan.steps, step))
        return e.PlanRefined(
            plan, (RefinementAction(RefinementOperation.ADD, step.step_id, step),), used=used
        )

    def _crash(self) -> None:
        self.in_flight.clear()
        self.crashes += 1
        self.run = RunSnapshot("run")
        for event in self.journal:  # all that a new daemon has
            self.run = fold(self.run, event)
        self._record(e.RunResumed())
