"""Every seam of aeond in one place (journal and sessions beside it): the file to read first.

Kernel, orchestration and capabilities meet here and never import each other. Whatever waits is async;
whatever computes is a plain function. Capabilities raise CapabilityError; orchestration returns Outcome
and never raises. `daemon/compose.py` chooses the implementations.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from aeond.domain.budgets import Amounts, Grant
from aeond.domain.events import (
    ChildRunEnded,
    ChildRunStarted,
    Event,
    EventKind,
    Intent,
    LiveUpdate,
    StepEnded,
    StepStarted,
)
from aeond.domain.llm import (
    EngineMetrics,
    EngineSnapshot,
    LLMCapabilities,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    ModelInfo,
)
from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem
from aeond.domain.plans import Plan, PlanStep
from aeond.domain.questions import InputRequest
from aeond.domain.runs import Operation, RunSnapshot
from aeond.domain.subtasks import ChildRun, SubtaskRequest
from aeond.domain.tools import ToolCall, ToolContext, ToolResult, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen
from aeond.ports.journal import Journal as Journal
from aeond.ports.journal import RunSummary as RunSummary

# ---------------------------------------------------------------- time and names


class Clock(Protocol):
    """The only source of time."""

    def time(self) -> float:
        """Unix time in seconds, for people."""

    def monotonic(self) -> float:
        """Seconds that never jump, for bounds."""

    async def sleep_until(self, monotonic_seconds: float) -> None:
        """Returns once `monotonic()` has reached the given value; at once if it has."""


class Ids(Protocol):
    """The only source of new names."""

    def new_id(self) -> str:
        """A unique id that sorts by creation time."""


# ---------------------------------------------------------------- who watches


class Feed(Protocol):
    """Tells those who watch what just happened. Never blocks, never grows: a slow watcher loses its
    queue and goes back to the journal."""

    def publish(self, events: Sequence[Event]) -> None:
        """To be called only with events that are durable."""

    def update(self, update: LiveUpdate) -> None:
        """Shows text or progress that is not journaled."""

    def text_sink(self, run_id: str, step_id: str) -> "TextSink":
        """Shows pieces of text as they come, each with its place in the text of this step ("": the answer)."""

    def progress_sink(self, run_id: str) -> "ProgressSink":
        """Shows what the run as a whole is doing."""


# ---------------------------------------------------------------- model


class LLMAdapter(Protocol):
    """Generates text, optionally under a JSON schema.

    All implementations: the same usage numbers; 3 attempts with backoff inside for what is retryable;
    LLMError when they fail, LLMGoneError when the engine died; InvalidInputError (reason
    CONTEXT_TOO_LONG) when prompt and max_tokens exceed the context: nothing is truncated silently;
    cancelling the call frees the engine within 100 ms. Calls wait, within the request's deadline, for an
    engine that is starting, asleep or restarting.
    """

    @property
    def model(self) -> str: ...

    @property
    def capabilities(self) -> LLMCapabilities: ...

    async def generate(self, request: LLMRequest) -> LLMResponse: ...

    def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        """Chunks as they come, the last with finish reason and usage. Not retried once text was given."""

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Exactly what a prompt of these messages costs, by the model's own template and tokenizer."""


class Engine(Protocol):
    """The process behind an LLMAdapter.

    It is COLD without a process, STARTING until it answers, READY, ASLEEP when it keeps its process and not its
    memory, and DEAD when it ended unasked. A request in a state other than READY waits and is then answered.
    """

    def snapshot(self) -> EngineSnapshot: ...

    async def ready(self) -> None:
        """Returns once it answers; starts or wakes it if need be, without a bound on the time. LLMError when its
        model cannot be had or it died too often."""

    async def load(self, model: str) -> None:
        """Begins to make this model of the catalogue the resident one ("" for the default); returns at
        once; the state tells the progress. NotFoundError for a name the catalogue lacks."""

    async def unload(self) -> None:
        """Stops the process and gives its memory back; the next request starts it again."""

    async def sleep(self) -> None:
        """Gives memory back: keeps the process and is ASLEEP where that frees any, else as `unload`, so COLD. The
        next request wakes it. A repeat changes nothing."""

    async def wake(self) -> None:
        """Begins to have it answer again, whether it is ASLEEP or COLD; returns at once. A repeat changes
        nothing."""

    async def list_models(self) -> Sequence[ModelInfo]: ...

    async def metrics(self) -> EngineMetrics | None:
        """What is measured of it, by itself and from outside, within a second; None where nothing is."""


# ---------------------------------------------------------------- tools, agents, memory


ToolAnswer = JsonValue | InputRequest | SubtaskRequest


class Tool(Protocol):
    """What a model may call. Authors implement `execute` and may raise ToolError."""

    @property
    def spec(self) -> ToolSpec: ...

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        """Runs with arguments that satisfy the input schema; returns data that satisfies the output schema,
        or what must happen first: the kernel does it, and the outcome becomes the call's result."""

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        """After a crash: the result, if the earlier call with the same call id did its work, else None."""


class ToolRegistry(Protocol):
    """The names of all tools."""

    def register(self, tool: Tool) -> None:
        """AlreadyExistsError when the name is taken, InvalidInputError when the spec is unusable (name,
        schemas, or an example that does not satisfy its own schema)."""

    def unregister(self, name: str) -> None:
        """NotFoundError when there is no such tool."""

    def get(self, name: str) -> Tool | None: ...

    def list_names(self) -> Sequence[str]: ...

    def specs(self) -> Sequence[ToolSpec]:
        """Everything a model needs to know of each tool, sorted by name."""


class Authoriser(Protocol):
    """Decides, outside the model's reach, whether a well-formed call may be made."""

    async def authorise(self, call: ToolCall, spec: ToolSpec, context: ToolContext) -> Problem | None:
        """Why the call is refused, for programs and people; None when it may be made."""


class ToolInvoker(Protocol):
    """The one guarded way to call a tool: looks up, validates, times, runs, validates the output, and
    always returns a ToolResult (cancellation passes through)."""

    async def invoke(self, call: ToolCall, context: ToolContext) -> ToolResult: ...

    def compute(self, call: ToolCall, context: ToolContext) -> ToolResult | None:
        """The result of a call of a PURE tool that computes it at once, by the same guards; None for any
        other call, which has then done nothing."""

    async def reconcile(self, call: ToolCall, context: ToolContext) -> ToolResult | None:
        """The result of an earlier, cut call if the tool can tell that it did its work, else None."""


class Agent(Protocol):
    """A named thing that answers a message."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Sequence[str]:
        """What this agent can do, as plain words; "stream" when `stream` gives pieces as they come."""

    async def process(self, message: Message) -> Message:
        """The answer, role `agent`. Its metadata may carry `used` token counts, `clarity` and `handoff`."""

    def stream(self, message: Message) -> AsyncIterator[Message]:
        """The answer in pieces; the last message is the whole one with the metadata of `process`.
        An agent that cannot stream yields only that one."""


class Memory(Protocol):
    """Key/value store. Keys are non-empty strings, values JSON; each operation is all or nothing.

    Raises InvalidInputError (reason EMPTY_KEY, KEY_TOO_LONG, VALUE_NOT_JSON, VALUE_TOO_LARGE), StoreError.
    """

    async def write(self, key: str, value: JsonValue) -> None: ...

    async def read(self, key: str) -> JsonValue | None:
        """None when there is no such key."""

    async def search(self, prefix: str, limit: int = 100, after: str = "") -> Sequence[tuple[str, JsonValue]]:
        """Keys that start with `prefix` (case-sensitive; "" is all) and come after `after`, sorted by code
        point, with their values."""

    async def delete(self, key: str) -> bool:
        """Whether there was such a key."""


# ---------------------------------------------------------------- orchestration, as the kernel sees it


@frozen
class StepOutput:
    """What an agent step gave."""

    output: JsonValue
    clarity: str = "clear"
    handoff: str = ""


TextSink = Callable[[str], None]  # takes pieces of text in order; "" starts the text anew (asked again)
ProgressSink = Callable[[str, float], None]  # takes an activity and a fraction (-1: unknown)


class Phases(Protocol):
    """All that a run as a whole is thought through with: phases A to E, as the kernel sees them."""

    async def perform(
        self,
        operation: Operation,
        snapshot: RunSnapshot,
        grant: Grant,
        on_text: TextSink,
        on_progress: ProgressSink,
    ) -> tuple[EventKind, ...]:
        """Does the operation and returns the events that end it, at least one. The first settles what was
        reserved: its `used` is what the grant says was used in the end.

        RESOLVE ReferencesResolved; ROUTE RouteChosen, for DIRECT followed by PlanAdopted, for REPLY
        perhaps by AnswerComposed; PROFILE
        ProfileInferred, perhaps BudgetAdjusted; PLAN PlanAdopted or PlanningFailed; EVALUATE PassEvaluated
        (of the current pass; of pass 0 for a plan that has not run), perhaps PlanRefined; REFINE
        PlanRefined, perhaps BudgetAdjusted; ANSWER AnswerComposed. Never raises.
        """

    async def conclude(
        self, operation: Operation, snapshot: RunSnapshot, problem: Problem, used: Amounts
    ) -> EventKind:
        """The event that ends an operation that was cut short: without a model and without waiting."""


class ImmediateWork(Protocol):
    """What a run needs not wait for: computing that touches nothing and asks nobody."""

    def perform(self, intent: Intent, run: RunSnapshot) -> tuple[EventKind, ...]:
        """The events that end what is intended, at least one; empty for everything that waits, asks or
        has an effect, and then nothing was done. Never raises."""


class Children(Protocol):
    """Runs started by steps."""

    async def run(
        self, child: ChildRun, parent: RunSnapshot, step_id: str, reserved: Amounts
    ) -> tuple[ChildRunEnded, StepEnded]:
        """Starts the run, or joins it if it is there already, and waits for its end: its answer is the
        step's output. What it used is counted up to `reserved`. Cancelling this cancels the run, unless
        the daemon is stopping: then it goes on with the next daemon."""


class Reasoner(Protocol):
    """Executes an agent step: builds its message from the step and hands it to the named agent."""

    def has_agent(self, name: str) -> bool: ...

    async def reason(
        self, step: PlanStep, snapshot: RunSnapshot, grant: Grant, on_text: TextSink
    ) -> Outcome[StepOutput | None]: ...


class StepIntents(Protocol):
    """Settles what a step will do before it is journaled."""

    def prepare(self, run: RunSnapshot, step_id: str, reservation: Amounts) -> StepStarted:
        """The intent: mode, arguments bound, and what a crash would mean. With mode TOOL and errors, the
        step's references cannot be resolved and it fails without running."""

    def prepare_child(
        self, run: RunSnapshot, step_id: str, request: SubtaskRequest, used: Amounts
    ) -> ChildRunStarted | StepEnded:
        """The child run for a subtask, within the ledger's share once the step's own reservation is
        settled; or the step's failure: no template fits, nested too deep, or a cycle."""


class Mender(Protocol):
    """Mends the form of a step: another registered tool for a missing one, or arguments that fit."""

    async def mend(self, step: PlanStep, run: RunSnapshot, grant: Grant) -> Outcome[PlanStep]:
        """The step with a registered tool, valid arguments and cleared errors; else the step as it was
        and a problem, whose reason is ARGUMENTS_INVALID when the tool is there and its arguments are not."""


class Validator(Protocol):
    """Names every problem with its path; an empty tuple means valid."""

    def validate_plan(self, plan: Plan) -> tuple[Problem, ...]:
        """Ids, dependencies, cycles, references, size. Unknown tools are the step's own problem."""

    def validate_output(self, output: JsonValue, schema: JsonObject) -> tuple[Problem, ...]: ...

    def validate_tool_call(self, call: ToolCall, spec: ToolSpec) -> tuple[Problem, ...]: ...

    def validate_step_tool(self, step: PlanStep) -> PlanStep:
        """The step with `errors` filled if its tool or agent is not registered, cleared if it is."""


# ---------------------------------------------------------------- a run in progress


class RunLoop(Protocol):
    """One run being worked on (the kernel's Orchestrator)."""

    @property
    def snapshot(self) -> RunSnapshot:
        """What is known of the run and durable."""

    async def execute(self) -> RunSnapshot:
        """Works until the run has ended, waits for a person or is parked; to be called once.

        Cancelling it leaves a run that resumes. Raises StoreError when the journal fails.
        """

    def deliver(self, kind: EventKind) -> None:
        """Hands in what happened outside: CancelRequested, StepResolved, RunResumed. Before `execute` or
        during it. WrongStateError when the run's state does not admit it, OverloadedError when too many
        wait. Durable once `execute` has journaled it."""

    def park(self) -> None:
        """Asks for an orderly stop: nothing new starts, what is harmless to cut is cut, steps with
        effects end, RunParked is journaled, `execute` returns."""


RunLoopFactory = Callable[[RunSnapshot], RunLoop]
"""Makes the loop that continues from a snapshot."""
