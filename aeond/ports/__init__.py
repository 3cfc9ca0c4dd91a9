"""Every seam of aeond: the interfaces between kernel, orchestration, capabilities and service. Read this first.

Entry point: `Phases`, `Journal`, `LLMAdapter`, `Tool` and `ToolInvoker`; `aeond.daemon.compose` chooses implementations.
Must not know any implementation.

A method that waits is async; a method that computes is a plain function. Capabilities raise CapabilityError;
orchestration returns Outcome and never raises.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol

from aeond.domain.llm import (
    EngineMetrics,
    EngineSnapshot,
    LLMCapabilities,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    ModelInfo,
    ToolSchema,
)
from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.runs.events import (
    ChildRunEnded,
    ChildRunStarted,
    Event,
    EventKind,
    Intent,
    StepEnded,
    StepStarted,
)
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.domain.runs.questions import InputRequest
from aeond.domain.runs.run import Operation, RunSnapshot
from aeond.domain.tools import CompositionView, ToolCall, ToolContext, ToolOutput, ToolResult, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen
from aeond.ports.journal import Appends as Appends
from aeond.ports.journal import Journal as Journal
from aeond.ports.journal import RunSummary as RunSummary
from aeond.ports.memory import Memories as Memories
from aeond.ports.memory import Memory as Memory
from aeond.ports.policy import Decided, ignore_decision
from aeond.ports.subtasks import SubtaskChooser as SubtaskChooser

# ---------------------------------------------------------------- time and ids


class Clock(Protocol):
    """The only source of time."""

    def time(self) -> float:
        """Unix time in seconds, for people."""

    def monotonic(self) -> float:
        """Seconds on a monotonic clock, for limits."""

    async def sleep_until(self, monotonic_seconds: float) -> None:
        """Returns once `monotonic()` has reached the given value; immediately if it has already."""


class Ids(Protocol):
    """The only source of new ids."""

    def new_id(self) -> str:
        """A unique id that sorts by creation time."""


# ---------------------------------------------------------------- watchers


class Feed(Protocol):
    """Delivers events to watchers. Never blocks and never grows: a slow watcher loses its queue and reads the
    journal instead."""

    def publish(self, events: Sequence[Event]) -> None:
        """Delivers events. Call only with events that are durable."""

    def update(self, update: LiveUpdate) -> None:
        """Delivers text or progress that is not journaled."""

    def text_sink(self, run_id: str, step_id: str) -> "TextSink":
        """A sink for pieces of text of this step ("": the answer), which adds each piece's position."""

    def progress_sink(self, run_id: str) -> "ProgressSink":
        """A sink for the current activity of the run."""


# ---------------------------------------------------------------- model


class LLMAdapter(Protocol):
    """Generates text, optionally under a JSON schema.

    All implementations report the same usage numbers and make up to 3 attempts with backoff on retryable
    failures. They raise LLMError if the attempts fail, LLMGoneError if the engine died, and InvalidInputError
    (reason CONTEXT_TOO_LONG) if prompt and max_tokens exceed the context: nothing is truncated silently.
    Cancelling the call frees the engine within 100 ms. Calls wait, within the request's deadline, for an
    engine that is starting, asleep or restarting.
    """

    @property
    def model(self) -> str: ...

    @property
    def capabilities(self) -> LLMCapabilities: ...

    async def generate(self, request: LLMRequest) -> LLMResponse: ...

    def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        """Yields chunks as they arrive, the last with finish reason and usage. Not retried once text was
        yielded."""

    async def count_tokens(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        """The exact size of a prompt with these messages and tools, by the model's own template and tokenizer."""


class Engine(Protocol):
    """The process behind an LLMAdapter.

    States: COLD without a process, STARTING until it answers, READY, ASLEEP if the process is kept without
    its memory, and DEAD after an unexpected exit. A request in any state other than READY waits until the
    engine is ready.
    """

    def snapshot(self) -> EngineSnapshot: ...

    async def changed(self, seen: EngineSnapshot) -> EngineSnapshot:
        """Returns the snapshot once it differs from `seen` in something other than the progress."""

    async def ready(self) -> None:
        """Returns once the engine answers; starts or wakes it if needed, without a time limit. LLMError if
        its model is not available or it crashed too often."""

    async def load(self, model: str) -> None:
        """Starts loading this model of the catalogue ("" for the default) and returns immediately; the state
        shows the progress. NotFoundError if the name is not in the catalogue."""

    async def unload(self) -> None:
        """Stops the process and frees its memory; the next request starts it again."""

    async def sleep(self) -> None:
        """Frees memory: keeps the process and becomes ASLEEP if that frees any, otherwise unloads and becomes
        COLD. The next request wakes it. Idempotent."""

    async def wake(self) -> None:
        """Starts waking or loading it from ASLEEP or COLD and returns immediately. Idempotent."""

    async def list_models(self) -> Sequence[ModelInfo]: ...

    async def metrics(self) -> EngineMetrics | None:
        """Internal and external metrics, within a second; None if there are none."""


# ---------------------------------------------------------------- tools, agents, memory


ToolAnswer = JsonValue | ToolOutput[JsonValue] | InputRequest | SubtaskRequest


MAX_CANDIDATES: Final = 200
CANDIDATES_SECONDS: Final = 2.0


class Tool(Protocol):
    """A tool that models may call. Authors implement `execute` and may raise ToolError."""

    @property
    def spec(self) -> ToolSpec: ...

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        """Runs with arguments that satisfy the input schema. Returns data that satisfies the output schema, in a
        ToolOutput if the call changed something, or a request that must be fulfilled first: the kernel does so,
        and the outcome becomes the call's result."""

    async def reconcile(
        self, arguments: JsonObject, context: ToolContext
    ) -> JsonValue | ToolOutput[JsonValue] | None:
        """After a crash: the result if the earlier call with the same call id took effect, else None."""


class ToolRegistry(Protocol):
    """The registered tools by name."""

    def of(self, uid: int) -> "ToolRegistry":
        """The tools of this user: the common ones, then those that clients of the user serve."""

    def register(self, tool: Tool) -> None:
        """AlreadyExistsError if the name is taken, InvalidInputError if the spec is invalid (name, schemas,
        or an example that does not satisfy its own schema)."""

    def get(self, name: str) -> Tool | None: ...

    def list_names(self) -> Sequence[str]: ...

    def specs(self) -> Sequence[ToolSpec]:
        """The specs of all tools: the common ones, then those of the user, each sorted by name."""


class ToolInvoker(Protocol):
    """The only way to call a tool: looks up, validates, times, runs, validates the output, and always returns
    a ToolResult (cancellation passes through). Before a tool runs, `decided` receives the decision about the
    call."""

    async def invoke(
        self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
    ) -> ToolResult: ...

    def compute(
        self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
    ) -> ToolResult | None:
        """The result of calling a PURE tool that computes synchronously, under the same checks; None for any
        other call, which then has no effect."""

    async def reconcile(self, call: ToolCall, context: ToolContext) -> ToolResult | None:
        """The result of an earlier, interrupted call if the tool can tell that it took effect, else None."""

    async def candidates(
        self, tool: str, argument: str, context: ToolContext, limit: int, near: str = ""
    ) -> Sequence[str]:
        """What the tool proposes for an argument (see situations.ProposesValues), at most MAX_CANDIDATES, within
        CANDIDATES_SECONDS; () where it proposes nothing, fails or takes longer. Never raises."""

    async def composition_view(
        self, call: ToolCall, context: ToolContext, request: str
    ) -> CompositionView | None:
        """What the composed arguments of the call are about (see situations.Composes), within CANDIDATES_SECONDS; None where there
        is none, the tool fails or takes longer. Never raises."""


class Agent(Protocol):
    """A named component that answers messages."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Sequence[str]:
        """The abilities of this agent as plain words; "stream" if `stream` yields partial text."""

    async def process(self, message: Message) -> Message:
        """The answer, with role `agent`. Its metadata may contain `used` token counts, `clarity` and
        `handoff`."""

    def stream(self, message: Message) -> AsyncIterator[Message]:
        """The answer in pieces; the last message is the complete one with the metadata of `process`. An agent
        that cannot stream yields only that one."""


# ---------------------------------------------------------------- orchestration, as the kernel sees it


@frozen
class StepOutput:
    """The result of an agent step."""

    output: JsonValue
    clarity: str = "clear"
    handoff: str = ""


# receives pieces of text in order; "" restarts the text (the model was called again)
TextSink = Callable[[str], None]
ProgressSink = Callable[[str, float], None]  # receives an activity and a fraction (-1: unknown)


class Phases(Protocol):
    """The reasoning of a run as a whole: phases A to E, as the kernel sees them."""

    async def perform(
        self,
        operation: Operation,
        snapshot: RunSnapshot,
        grant: Grant,
        on_text: TextSink,
        on_progress: ProgressSink,
    ) -> tuple[EventKind, ...]:
        """Performs the operation and returns the events that end it, at least one. The first settles the
        reservation: its `used` is the total of the grant.

        RESOLVE gives ReferencesResolved; ROUTE gives RouteChosen, followed by PlanAdopted for DIRECT and
        possibly by AnswerComposed for REPLY; PROFILE gives ProfileInferred, possibly BudgetAdjusted; PLAN
        gives PlanAdopted or PlanningFailed; EVALUATE gives PassEvaluated (of the current pass; of pass 0 for
        a plan that has not run), possibly PlanRefined; REFINE gives PlanRefined, possibly BudgetAdjusted;
        ANSWER gives AnswerComposed. Never raises.
        """

    async def conclude(
        self, operation: Operation, snapshot: RunSnapshot, problem: Problem, used: Amounts
    ) -> EventKind:
        """The event that ends an interrupted operation, without a model and without waiting."""


class ImmediateWork(Protocol):
    """Work that a run need not wait for: computation without effects."""

    def perform(self, intent: Intent, run: RunSnapshot) -> tuple[EventKind, ...]:
        """The events that complete the intended work, at least one; empty, with nothing done, for work that
        waits, asks or has an effect. Never raises."""


class Children(Protocol):
    """Child runs started by steps."""

    async def run(
        self, child: ChildRun, parent: RunSnapshot, step_id: str, reserved: Amounts
    ) -> tuple[ChildRunEnded, StepEnded]:
        """Starts the run, or attaches to it if it exists, and waits for its end: its answer is the step's
        output. Its use is counted up to `reserved`. Cancelling this call cancels the run, unless the daemon
        is stopping: then the run continues with the next daemon."""


class Reasoner(Protocol):
    """Executes an agent step: builds the message from the step and passes it to the named agent."""

    def has_agent(self, name: str) -> bool: ...

    async def reason(
        self, step: PlanStep, snapshot: RunSnapshot, grant: Grant, on_text: TextSink
    ) -> Outcome[StepOutput | None]: ...


class StepIntents(Protocol):
    """Determines the exact action of a step before it is journaled."""

    def prepare(self, run: RunSnapshot, step_id: str, reservation: Amounts) -> StepStarted:
        """The intent: mode, bound arguments, and recovery rule. With mode TOOL and errors, the step's
        references cannot be resolved and it fails without running."""

    def prepare_child(
        self, run: RunSnapshot, step_id: str, request: SubtaskRequest, used: Amounts
    ) -> ChildRunStarted | StepEnded:
        """The child run for a subtask, within the ledger's share after the step's own reservation is settled;
        or the step's failure: no template matches, nesting too deep, or a cycle."""


class Repairer(Protocol):
    """Repairs the form of a step: replaces a missing tool by a registered one, or makes arguments valid."""

    async def repair(self, step: PlanStep, run: RunSnapshot, grant: Grant) -> Outcome[PlanStep]:
        """The step with a registered tool, valid arguments and no errors; otherwise the unchanged step and a
        problem, whose reason is ARGUMENTS_INVALID if the tool exists but the arguments are invalid."""


class Validator(Protocol):
    """Reports every problem with its path; an empty tuple means valid."""

    def validate_plan(self, plan: Plan) -> tuple[Problem, ...]:
        """Checks ids, dependencies, cycles, references and size. Unknown tools are reported by
        `validate_step_tool`."""

    def validate_output(self, output: JsonValue, schema: JsonObject) -> tuple[Problem, ...]: ...

    def validate_tool_call(self, call: ToolCall, spec: ToolSpec) -> tuple[Problem, ...]: ...

    def validate_step_tool(self, step: PlanStep) -> PlanStep:
        """The step with `errors` set if its tool or agent is not registered, and cleared if it is."""


# ---------------------------------------------------------------- a run in progress


LOOP_ENDED: Final = "RUN_LOOP_ENDED"  # the reason of WrongStateError after `execute`


class RunLoop(Protocol):
    """Executes one run (the kernel's Orchestrator)."""

    @property
    def snapshot(self) -> RunSnapshot:
        """The durable state of the run."""

    async def execute(self) -> RunSnapshot:
        """Works until the run has ended, waits for a person or is parked. Call once.

        A cancelled run loop leaves a run that resumes. Raises StoreError if the journal fails.
        """

    def deliver(self, kind: EventKind) -> None:
        """Delivers an external event: CancelRequested, StepResolved or RunResumed, before or during
        `execute`. WrongStateError if the run's state does not admit it (or LOOP_ENDED), OverloadedError if
        too many are queued. Durable once `execute` has journaled it."""

    def park(self) -> None:
        """Requests an orderly stop: nothing new starts, work that is safe to interrupt is interrupted, steps
        with effects finish, RunParked is journaled, and `execute` returns."""


RunLoopFactory = Callable[[RunSnapshot], RunLoop]
"""Creates the loop that continues from a snapshot."""
