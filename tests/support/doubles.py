"""Doubles of ports shared by tests of the kernel and the service: small, deterministic, scripted."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.runs.budgets import Amounts, Budget, Grant
from aeond.domain.runs.events import ChildRunEnded, ChildRunStarted, Event, StepEnded, StepStarted
from aeond.domain.runs.live_updates import LiveUpdate, Progress, TextDelta
from aeond.domain.runs.questions import InputRequest
from aeond.domain.runs.run import Answer, RunSnapshot, RunState
from aeond.domain.tools import (
    CompositionView,
    Effect,
    Recovery,
    ToolCall,
    ToolContext,
    ToolOutput,
    ToolResult,
    ToolSpec,
)
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import ToolError
from aeond.orchestration.interfaces import Answerer, PlanDraft, Planner
from aeond.orchestration.phases import PhaseOrchestrator
from aeond.ports import ProgressSink, StepOutput, TextSink, ToolAnswer
from aeond.ports.policy import Decided, ignore_decision
from tests.support.null_objects import AcceptAll, AlwaysPlan, AsSaid, FixedDepth, NeverRefine, ShowAll


class ManualClock:
    """Time that passes when a test says so."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now
        self._moved = anyio.Event()

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep_until(self, monotonic_seconds: float) -> None:
        while self.now < monotonic_seconds:
            await self._moved.wait()

    def advance(self, seconds: float) -> None:
        self.now += seconds
        self._moved.set()
        self._moved = anyio.Event()


class EagerClock(ManualClock):
    """Time that a wait moves on by itself: no test waits."""

    async def sleep_until(self, monotonic_seconds: float) -> None:
        await anyio.lowlevel.checkpoint()
        self.now = max(self.now, monotonic_seconds)


@dataclass
class RecordingFeed:
    """Keeps what was published and shown."""

    events: list[Event] = field(default_factory=list)
    updates: list[LiveUpdate] = field(default_factory=list)

    def publish(self, events: Sequence[Event]) -> None:
        self.events.extend(events)

    def update(self, update: LiveUpdate) -> None:
        self.updates.append(update)

    def text_sink(self, run_id: str, step_id: str) -> TextSink:
        offset = 0

        def show(text: str) -> None:
            nonlocal offset
            offset = offset if text else 0
            self.update(TextDelta(run_id, step_id, text, offset))
            offset += len(text)

        return show

    def progress_sink(self, run_id: str) -> ProgressSink:
        return lambda activity, fraction: self.update(Progress(run_id, "", activity, fraction))

    def text(self, step_id: str = "") -> str:
        """The text shown for a step, as a client would put it together."""
        text = ""
        for update in self.updates:
            if isinstance(update, TextDelta) and update.step_id == step_id:
                text = text[: update.offset] + update.text
        return text


ANY_OBJECT: JsonObject = {"type": "object"}
Execute = Callable[[JsonObject, ToolContext], Awaitable[ToolAnswer]]
Compute = Callable[[JsonObject, ToolContext], JsonValue]


async def give_arguments_back(arguments: JsonObject, _: ToolContext) -> JsonValue:
    return dict(arguments)


@dataclass
class ScriptedTool:
    """A tool that does what the test says and counts its calls."""

    name: str
    run: Execute = give_arguments_back
    effect: Effect = Effect.PURE
    idempotent: bool = False
    input_schema: JsonObject = field(default_factory=lambda: ANY_OBJECT)
    done_before: JsonValue | None = None
    calls: list[ToolContext] = field(default_factory=list)
    timeout_seconds: float = 30.0
    computed: Compute | None = None  # the synchronous result, for pure tools

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            self.name,
            f"the tool {self.name}",
            self.input_schema,
            ANY_OBJECT,
            self.effect,
            self.idempotent,
            timeout_seconds=self.timeout_seconds,
        )

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        self.calls.append(context)
        if self.computed is not None:
            return self.computed(arguments, context)
        return await self.run(arguments, context)

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        return self.done_before


@dataclass
class FixedPlanner:
    """Returns a given plan, at a cost, after a gate has opened."""

    plan: Plan | None
    price: Amounts = field(default_factory=lambda: Amounts(llm_calls=1, tokens=100))
    gate: anyio.Event | None = None
    started: anyio.Event = field(default_factory=anyio.Event)

    async def draft(
        self, snapshot: RunSnapshot, grant: Grant, on_progress: ProgressSink
    ) -> Outcome[PlanDraft | None]:
        self.started.set()
        on_progress("planning", 0.5)
        grant.take(self.price)
        if self.gate is not None:
            await self.gate.wait()
        if self.plan is None:
            return failure(Problem("NO_PLAN", "there is no plan"), None)
        return success(PlanDraft(self.plan))


@dataclass
class PlainAnswerer:
    """Answers with the outputs of the steps, in two pieces of text when it has a grant."""

    gate: anyio.Event | None = None
    started: anyio.Event = field(default_factory=anyio.Event)

    async def compose(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Answer:
        text = "; ".join(str(s.output) for s in snapshot.steps.values() if s.output is not None)
        if grant.take(Amounts(llm_calls=1, tokens=10)):
            on_text(text[:3])
            self.started.set()
            if self.gate is not None:
                await self.gate.wait()
            on_text(text[3:])
        return Answer(text, tuple(snapshot.steps), budget_exhausted=bool(snapshot.exhausted))


def phases(planner: Planner, answerer: Answerer, **parts: Any) -> PhaseOrchestrator:
    """The phases with this planner and answerer, whose other parts think nothing unless they are given."""
    trivial = {
        "references": AsSaid(),
        "tools": ShowAll(),
        "router": AlwaysPlan(),
        "depth": FixedDepth(),
        "evaluator": AcceptAll(),
        "refiner": NeverRefine(),
    }
    return PhaseOrchestrator(planner=planner, answerer=answerer, **{**trivial, **parts})


@dataclass
class FixedReasoner:
    """Agents with predefined outcomes."""

    outcomes: Mapping[str, Outcome[StepOutput | None]] = field(default_factory=dict)
    reasoned: list[PlanStep] = field(default_factory=list)

    def has_agent(self, name: str) -> bool:
        return name in {"llm", *self.outcomes}

    async def reason(
        self, step: PlanStep, snapshot: RunSnapshot, grant: Grant, on_text: TextSink
    ) -> Outcome[StepOutput | None]:
        self.reasoned.append(step)
        grant.take(Amounts(llm_calls=1, tokens=20))
        on_text("thought about it")
        return self.outcomes.get(step.agent or "", success(StepOutput("thought about it")))


@dataclass
class ScriptedRepairer:
    """Repairs a step in a predefined way, or not at all."""

    outcome_of: Callable[[PlanStep], Outcome[PlanStep]] = lambda step: failure(
        Problem("REPAIR_FAILED", "nothing fits"), step
    )

    async def repair(self, step: PlanStep, run: RunSnapshot, grant: Grant) -> Outcome[PlanStep]:
        grant.take(Amounts(llm_calls=1, tokens=5))
        return self.outcome_of(step)


class EchoAgent:
    """An agent that answers with what it was asked, word by word if it may stream."""

    name = "parrot"
    capabilities: Sequence[str] = ("repeats", "stream")

    async def process(self, message: Message) -> Message:
        return Message(Role.AGENT, message.content)

    async def stream(self, message: Message) -> AsyncIterator[Message]:
        for word in str(message.content).split():
            yield Message(Role.AGENT, word)
        yield await self.process(message)


@dataclass
class PlainIntents:
    """Runs steps as planned: by their tool when it is there, else by their agent, else repair and fallback."""

    tools: Mapping[str, ScriptedTool]
    child_budget: Budget = field(default_factory=lambda: Budget(ttl=2, llm_calls=2, tokens=100, tool_calls=2))

    def prepare(self, run: RunSnapshot, step_id: str, reservation: Amounts) -> StepStarted:
        assert run.plan is not None
        current, step = run.steps[step_id], run.plan.step(step_id)
        mode, recovery = StepMode.AGENT, Recovery.RERUN
        if step.tool_call is not None and step.tool_call.tool in self.tools:
            mode, recovery = StepMode.TOOL, self.tools[step.tool_call.tool].spec.recovery
        elif step.agent is None:
            mode = StepMode.FALLBACK if current.mode is StepMode.REPAIR else StepMode.REPAIR
            step = replace(step, errors=("there is no such tool",))
        return StepStarted(step, current.attempt + 1, mode, recovery, reservation)

    def prepare_child(
        self, run: RunSnapshot, step_id: str, request: SubtaskRequest, used: Amounts
    ) -> ChildRunStarted | StepEnded:
        child = ChildRun(f"{run.run_id}-{step_id}", "plain", self.child_budget, request, ("plain",))
        return ChildRunStarted(step_id, child, used)


@dataclass
class ScriptedChildren:
    """Child runs with predefined answers, after a gate has opened."""

    text: str = "the child's answer"
    state: RunState = RunState.SUCCEEDED
    used: Amounts = field(default_factory=lambda: Amounts(ttl=1, llm_calls=1, tokens=10))
    gate: anyio.Event | None = None
    joined: list[str] = field(default_factory=list)

    async def run(
        self, child: ChildRun, parent: RunSnapshot, step_id: str, reserved: Amounts
    ) -> tuple[ChildRunEnded, StepEnded]:
        self.joined.append(child.child_run_id)
        if self.gate is not None:
            await self.gate.wait()
        used = self.used.at_most(reserved)
        state = StepState.SUCCEEDED if self.state is RunState.SUCCEEDED else StepState.FAILED
        ended = StepEnded(step_id, state, StepMode.TOOL, output=self.text, used=used)
        return ChildRunEnded(step_id, child.child_run_id, self.state, used), ended


@dataclass
class PlainInvoker:
    """Calls a scripted tool; an exception becomes the error of its result."""

    tools: Mapping[str, ScriptedTool]

    async def invoke(
        self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
    ) -> ToolResult:
        try:
            answer = await self.tools[call.tool].execute(call.arguments, context)
            if isinstance(answer, InputRequest | SubtaskRequest):
                return ToolResult(True, request=answer)
            if isinstance(answer, ToolOutput):
                return ToolResult(True, answer.data, effects=answer.effects)
            return ToolResult(True, answer)
        except ToolError as error:
            metadata = {"candidates": error.candidates} if error.candidates else {}
            return ToolResult(False, error=error.message, reason=error.reason, metadata=metadata)

    def compute(
        self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
    ) -> ToolResult | None:
        tool = self.tools[call.tool]
        if tool.computed is None:
            return None
        tool.calls.append(context)
        try:
            return ToolResult(True, tool.computed(call.arguments, context))
        except ToolError as error:
            return ToolResult(False, error=error.message, reason=error.reason)

    async def reconcile(self, call: ToolCall, context: ToolContext) -> ToolResult | None:
        done = await self.tools[call.tool].reconcile(call.arguments, context)
        return None if done is None else ToolResult(True, done)

    async def candidates(
        self, tool: str, argument: str, context: ToolContext, limit: int, near: str = ""
    ) -> Sequence[str]:
        return ()

    async def composition_view(
        self, call: ToolCall, context: ToolContext, request: str
    ) -> CompositionView | None:
        return None
