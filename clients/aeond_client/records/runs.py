# Generated from protos/ by `make proto`; never edited.
"""Runs as a client sees them: request, progress and answer. Times are Unix times in seconds."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aeond_client.records.judgements import ApprovalRequest, Question, TaskProfile
from aeond_client.records.tools import RecordedEffect


class RunState(StrEnum):
    """The lifecycle state of a run."""

    UNSPECIFIED = "unspecified"
    """A state that this client does not know."""
    PENDING = "pending"
    """Accepted, not yet started."""
    RUNNING = "running"
    """Active."""
    AWAITING_INPUT = "awaiting_input"
    """A person must answer a question (see AnswerRun) or decide about tool calls (see DecideRun)."""
    SUSPENDED = "suspended"
    """Waits for a decision (see DecideRun) or for disk space."""
    SUCCEEDED = "succeeded"
    """Ended with an answer."""
    FAILED = "failed"
    """Ended with a problem."""
    CANCELLED = "cancelled"
    """Ended because it was cancelled."""
    EXPIRED = "expired"
    """Ended because a budget is exhausted; it still has an answer."""

    @property
    def ended(self) -> bool:
        return self in {RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.EXPIRED}


class StepState(StrEnum):
    """The lifecycle state of a step."""

    UNSPECIFIED = "unspecified"
    """A state that this client does not know."""
    PENDING = "pending"
    """Waits for its dependencies."""
    READY = "ready"
    """Can start."""
    RUNNING = "running"
    """Running."""
    SUCCEEDED = "succeeded"
    """Succeeded."""
    FAILED = "failed"
    """Failed."""
    INVALID = "invalid"
    """Ran, but its output is rejected or unusable."""
    SKIPPED = "skipped"
    """Will not run: a dependency failed, or the run is ending."""
    UNKNOWN = "unknown"
    """Interrupted by a crash when its effect may have happened: a person decides, see DecideRun."""


class Resolution(StrEnum):
    """A person's decision about an UNKNOWN step, or about a run suspended after crashes."""

    RETRY = "retry"
    """Run it again."""
    DONE = "done"
    """Mark it as done and continue."""
    ABORT = "abort"
    """Mark it as failed; for a whole run: end it."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Quantities of each dimension of a budget: used or reserved. 0: none."""

    ttl: int = 0
    """Step executions."""
    llm_calls: int = 0
    """Model calls."""
    tokens: int = 0
    """Tokens."""
    tool_calls: int = 0
    """Tool calls."""
    passes: int = 0
    """Passes."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one run. In a request, an unset limit means the daemon's default, and one above the
    daemon's maximum is lowered to it; in responses, all are set. A limit of 0 allows nothing."""

    ttl: int | None = None
    """Step executions."""
    llm_calls: int | None = None
    """Model calls."""
    tokens: int | None = None
    """Tokens, for prompts and answers together."""
    tool_calls: int | None = None
    """Tool calls."""
    passes: int | None = None
    """Passes of execute, evaluate, refine."""
    wall_seconds: float | None = None
    """Working time in seconds, without the time that the daemon is down."""
    depth: int | None = None
    """Levels of child runs allowed below this one."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem: what is wrong, where, and whether a retry can help."""

    reason: str
    """A stable UPPER_SNAKE word for programs; never empty."""
    message: str
    """A description for people."""
    path: str = ""
    """The place in the checked value as a JSON pointer. Empty: the whole value."""
    retryable: bool = False
    """Whether a retry may succeed."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step: a tool call or an agent, its dependencies and its handoff."""

    step_id: str
    """Unique in the plan; never empty."""
    description: str = ""
    """Its purpose, for people."""
    tool: str = ""
    """The tool's name; never empty."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The arguments object. Empty: no arguments."""
    agent: str = ""
    """The agent that executes the step. Empty without a tool call: the model (`llm`)."""
    depends_on: tuple[str, ...] = ()
    """Ids of steps that must succeed before this one starts."""
    provides: tuple[str, ...] = ()
    """Names of its results, returned unchanged and never interpreted."""
    handoff_to_next: str = ""
    """The text to pass to the steps that depend on it."""
    errors: tuple[str, ...] = ()
    """Its errors. Ignored in a request."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A directed acyclic graph of steps, in the order in which they were planned."""

    goal: str = ""
    """The purpose of the plan. Empty: the request's text."""
    steps: tuple[PlanStep, ...] = ()
    """1 to 64 steps."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a run."""

    text: str
    """The text of the answer."""
    step_ids: tuple[str, ...] = ()
    """The supporting steps."""
    confidence: float = 1.0
    """The confidence, 0 to 1."""
    notes: tuple[str, ...] = ()
    """Missing or doubtful parts, for people."""
    budget_exhausted: bool = False
    """Whether a budget was exhausted before the work was done."""
    synthesized: bool = False
    """Whether a model wrote the text; otherwise the text is the steps' own output."""
    effects: tuple[RecordedEffect, ...] = ()
    """The changes made by the run and its child runs, in order, at most 256. They come from the
    journal, never from a model. Empty: no tool reported a change."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One answer of a model."""

    prompt_tokens: int = 0
    """Prompt tokens."""
    completion_tokens: int = 0
    """Generated tokens."""
    cached_tokens: int = 0
    """Prompt tokens served from the prefix cache."""
    first_token_seconds: float = 0.0
    """Time to the first token. 0: not measured."""
    engine_seconds: float = 0.0
    """Time of the whole answer, including waiting for other work of the engine. 0: not measured."""
    end_time: float = 0.0
    """When the answer ended, in seconds since the epoch. 0: not measured."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Model usage of a step."""

    prompt_tokens: int = 0
    """Prompt tokens."""
    completion_tokens: int = 0
    """Generated tokens."""
    cached_tokens: int = 0
    """Prompt tokens served from the prefix cache."""
    first_token_seconds: float = 0.0
    """Time to the first token of the first answer. 0: not measured."""
    engine_seconds: float = 0.0
    """Total time of all answers, including waiting for other work of the engine. 0: not measured."""
    calls: tuple[ModelCall, ...] = ()
    """The first 32 calls, in the order of their ends. Empty in journals of earlier versions; those that
    an agent makes by itself are only in the sums."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step and its state."""

    plan_step: PlanStep
    """The step as planned, and as executed once it has started."""
    state: StepState
    """The lifecycle state."""
    attempt: int = 0
    """The number of its starts. 0: never."""
    mode: str = ""
    """How it is executed."""
    recovery: str = ""
    """How a restart would treat it."""
    output: Any = None
    """The output. Empty: none yet, or more than 32 KiB; then output_bytes is its size and its StepEnded
    event contains it."""
    output_bytes: int = 0
    """The size of the output as JSON text. 0: none yet."""
    error: str = ""
    """The cause of a failure, for people. Empty: it did not fail."""
    reason: str = ""
    """The cause of a failure, for programs. Empty: it did not fail."""
    clarity: str = ""
    """Its confidence in the output."""
    duration_seconds: float = 0.0
    """Its duration. 0: not ended."""
    model_use: ModelUse | None = None
    """Model usage of the step. Not set: no model was called."""

    @property
    def step_id(self) -> str:
        return self.plan_step.step_id


@dataclass(frozen=True, slots=True)
class Run:
    """The complete state of a run, folded from its events."""

    run_id: str
    """The run's id; ids sort by creation."""
    state: RunState
    """The lifecycle state."""
    text: str
    """The request in plain language, 1 to 100,000 characters."""
    phase: str = ""
    """The current phase."""
    request_id: str = ""
    """Makes creation idempotent: the same id from the same user returns the same run. Empty: every call
    creates a run."""
    session_id: str = ""
    """The session it belongs to. Empty: none."""
    workspace: str = ""
    """Absolute path of the folder that confines the run's file tools. Empty: a private folder of the
    daemon's."""
    labels: dict[str, str] = field(default_factory=dict)
    """Free words chosen by the client, returned unchanged and never interpreted."""
    model: str = ""
    """The model for all its steps, which must be downloaded. Empty: the one that was loaded last when a
    step runs, or the default one."""
    unattended: bool = False
    """Whether the run is suspended as soon as a call needs approval. False: only if no client watches
    it for a while."""
    uid: int = -1
    """User id. -1: unknown."""
    limit: Budget = field(default_factory=Budget)
    """Its limits, all of them set."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    reserved: Amounts = field(default_factory=Amounts)
    """The amounts reserved for work in flight."""
    goal: str = ""
    """The purpose of its plan. Empty: there is no plan yet."""
    plan_source: str = ""
    """The author of the plan."""
    steps: tuple[Step, ...] = ()
    """The plan's steps and their states, in plan order. Empty: there is no plan yet."""
    pass_index: int = 0
    """The current pass. 0: none yet."""
    answer: Answer | None = None
    """The answer. Not set: not yet, or cancelled."""
    problem: Problem | None = None
    """The cause of a failure. Not set: it did not fail."""
    cancel_requested: bool = False
    """Whether its cancellation was requested."""
    exhausted: str = ""
    """The limit that was reached, a field of Budget. Empty: none."""
    suspend_reason: str = ""
    """Why it is suspended."""
    created_time: float = 0.0
    """The time of its creation."""
    changed_time: float = 0.0
    """The time of its last event."""
    elapsed_seconds: float = 0.0
    """Working time."""
    last_seq: int = 0
    """The seq of its last event."""
    crashes: int = 0
    """The number of crashes of the daemon during the run."""
    questions: tuple[Question, ...] = ()
    """The open questions."""
    approvals: tuple[ApprovalRequest, ...] = ()
    """The pending approvals."""
    parent_run_id: str = ""
    """The run that started this one. Empty: none."""
    depth: int = 0
    """The nesting level below a run that a client requested. 0: requested by a client."""
    profile: TaskProfile | None = None
    """The estimated difficulty of the task. Not set: not estimated."""
    route: str = ""
    """How the request is processed."""
    parked: bool = False
    """Whether the daemon parked it in an orderly stop; it continues with the next daemon."""
    effects: tuple[RecordedEffect, ...] = ()
    """The changes made so far by the run and its child runs, in order, at most 256. Empty: no tool
    reported a change."""
    taint: tuple[str, ...] = ()
    """Untrusted sources that the run has read, sorted, at most 16. Empty: the run is not tainted."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """An entry of a list of runs."""

    run_id: str
    """The run's id."""
    state: RunState
    """The lifecycle state."""
    text: str
    """The first 200 characters of the request."""
    created_time: float
    """The time of its creation."""
    changed_time: float
    """The time of its last event."""
    last_seq: int
    """The seq of its last event."""
    uid: int = -1
    """The requesting user. -1: unknown."""
    parent_run_id: str = ""
    """The run that started it. Empty: requested by a client."""


@dataclass(frozen=True, slots=True)
class UndoneChange:
    """A change that was taken back."""

    target: str
    """The path or key, as in the run's recorded effects; never empty."""
    outcome: str
    """What became of it, such as `restored`, `removed` or `moved back`; never empty."""


@dataclass(frozen=True, slots=True)
class RefusedUndo:
    """A change that was left alone."""

    target: str
    """The path or key, as in the run's recorded effects; never empty."""
    reason: str
    """The cause, for programs, such as CHANGED_SINCE; never empty."""
    message: str
    """The cause, for people; never empty."""


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What was taken back and what was not."""

    undone: tuple[UndoneChange, ...] = ()
    """What was taken back, the latest change first. Empty: nothing."""
    refused: tuple[RefusedUndo, ...] = ()
    """The changes that were left alone. Empty: none."""
