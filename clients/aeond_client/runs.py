"""Runs as a client sees them: request, progress and answer."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aeond_client.judgements import Question, TaskProfile
from aeond_client.tools import RecordedEffect


class RunState(StrEnum):
    """The lifecycle state of a run. UNSPECIFIED is a state that this client does not know."""

    UNSPECIFIED = "unspecified"
    PENDING = "pending"
    RUNNING = "running"
    AWAITING_INPUT = "awaiting_input"
    SUSPENDED = "suspended"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def ended(self) -> bool:
        return self in {RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.EXPIRED}


class StepState(StrEnum):
    """The lifecycle state of a step. UNKNOWN: interrupted by a crash, and a person decides."""

    UNSPECIFIED = "unspecified"
    PENDING = "pending"
    READY = "ready"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    INVALID = "invalid"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


class Resolution(StrEnum):
    """A person's decision about an UNKNOWN step: run it again, mark it as done, or end the run."""

    RETRY = "retry"
    DONE = "done"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts used of each limited resource."""

    ttl: int = 0
    llm_calls: int = 0
    tokens: int = 0
    tool_calls: int = 0
    passes: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a run. In a request, None selects the daemon's default.

    `ttl` counts step executions, `passes` the passes over the plan, `depth` the levels of child runs,
    `wall_seconds` working time.
    """

    ttl: int | None = None
    llm_calls: int | None = None
    tokens: int | None = None
    tool_calls: int | None = None
    passes: int | None = None
    wall_seconds: float | None = None
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem (`reason` for programs, `message` for people) and its position (`path`, "" for the whole)."""

    reason: str
    message: str
    path: str = ""
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan: a tool with arguments, or an agent; its dependencies and handoff."""

    step_id: str
    description: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    agent: str = ""
    depends_on: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    handoff_to_next: str = ""
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in the order in which they were planned."""

    goal: str = ""
    steps: tuple[PlanStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a run: text, supporting steps, confidence (0..1), and missing parts.

    `synthesized` is true if a model wrote the text; otherwise the text is the steps' own output. `effects` are
    the changes made by the run and its child runs, in order, as recorded in the journal.
    """

    text: str
    step_ids: tuple[str, ...] = ()
    confidence: float = 1.0
    notes: tuple[str, ...] = ()
    budget_exhausted: bool = False
    synthesized: bool = False
    effects: tuple[RecordedEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Model usage of a step; `cached_tokens` is the part of the prompts served from the prefix cache."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    first_token_seconds: float = 0.0
    engine_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a run and its state; `attempt` counts its starts (0: never started).

    `output_bytes` is the size of the output as JSON text. A Run omits outputs above 32 KiB (None); the step's
    StepEnded event has them.
    """

    plan_step: PlanStep
    state: StepState
    attempt: int = 0
    mode: str = ""
    output: Any = None
    output_bytes: int = 0
    error: str = ""
    reason: str = ""
    clarity: str = ""
    duration_seconds: float = 0.0
    model_use: ModelUse | None = None

    @property
    def step_id(self) -> str:
        return self.plan_step.step_id


@dataclass(frozen=True, slots=True)
class Run:
    """The current state of a run.

    `limit` has every limit set; `exhausted` names the one that was reached, `suspend_reason` says why a
    suspended run waits ("" if not applicable). Times are Unix times in seconds, `elapsed_seconds` is working
    time. `route` and `profile` classify the request, `questions` are the open questions to people;
    `parent_run_id` is the run that started this one, `depth` its nesting level; `model` is the requested
    model, "" for any; `effects` are the changes made so far.
    """

    run_id: str
    state: RunState
    text: str
    request_id: str = ""
    session_id: str = ""
    workspace: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    uid: int = -1
    last_seq: int = 0
    phase: str = ""
    goal: str = ""
    steps: tuple[Step, ...] = ()
    answer: Answer | None = None
    problem: Problem | None = None
    limit: Budget = field(default_factory=Budget)
    used: Amounts = field(default_factory=Amounts)
    exhausted: str = ""
    suspend_reason: str = ""
    cancel_requested: bool = False
    created_time: float = 0.0
    changed_time: float = 0.0
    elapsed_seconds: float = 0.0
    route: str = ""
    profile: TaskProfile | None = None
    questions: tuple[Question, ...] = ()
    parent_run_id: str = ""
    depth: int = 0
    model: str = ""
    effects: tuple[RecordedEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class RunSummary:
    """An entry of a list of runs; `text` is the start of the request, `parent_run_id` the run that started
    it.
    """

    run_id: str
    state: RunState
    text: str
    created_time: float
    changed_time: float
    last_seq: int
    uid: int = -1
    parent_run_id: str = ""
