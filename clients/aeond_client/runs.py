"""Runs as a client sees them: what was asked, how far it is, what came out."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aeond_client.judgements import Question, TaskProfile


class RunState(StrEnum):
    """The place of a run in its life. UNSPECIFIED is a state that this client does not know yet."""

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
    """The place of a step in its life. UNKNOWN: cut short by a crash, and a person decides."""

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
    """What a person decides about an UNKNOWN step: run it again, count it as done, or end the run."""

    RETRY = "retry"
    DONE = "done"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much of each bounded thing was used."""

    ttl: int = 0
    llm_calls: int = 0
    tokens: int = 0
    tool_calls: int = 0
    passes: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds of a run. In a request None leaves a bound to the daemon.

    `ttl` counts step executions, `passes` rounds of the plan, `depth` how deep child runs may nest,
    `wall_seconds` time spent working.
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
    """What is wrong (`reason` for programs, `message` for people), and where (`path`, "" for the whole)."""

    reason: str
    message: str
    path: str = ""
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan: a tool with arguments, or an agent; what it waits for and hands on."""

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
    """What a run ends with: the text, the steps it rests on, how sure (0..1), and what is missing.

    `synthesized` tells whether a model wrote the text; otherwise it is the steps' own output.
    """

    text: str
    step_ids: tuple[str, ...] = ()
    confidence: float = 1.0
    notes: tuple[str, ...] = ()
    budget_exhausted: bool = False
    synthesized: bool = False


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What models did for a step; `cached_tokens` is the part of the prompts that was read before."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    first_token_seconds: float = 0.0
    engine_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a run and how it went so far; `attempt` counts its starts (0: never started).

    `output_bytes` is the size of the output as JSON text. Above 32 KiB a Run leaves the output out
    (None); then the step's StepEnded event has it.
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
    """A run as the daemon knows it now.

    `limit` has every bound set; `exhausted` names the one that was reached, `suspend_reason` says why a
    suspended run waits ("" where it does not apply). Times are Unix times in seconds, `elapsed_seconds`
    is time spent working. `route` and `profile` are what was thought of the request, `questions` what
    people are being asked; `parent_run_id` names the run that started this one, `depth` levels up;
    `model` is the one that was asked for, "" where any may do the work.
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


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A line of a list of runs; `text` is the start of what was asked, `parent_run_id` names the run that
    started it."""

    run_id: str
    state: RunState
    text: str
    created_time: float
    changed_time: float
    last_seq: int
    uid: int = -1
    parent_run_id: str = ""
