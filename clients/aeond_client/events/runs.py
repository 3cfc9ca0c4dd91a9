# Generated from protos/ by `make proto`; never edited.
"""Events of a run as a whole, from its creation to its answer and its end."""

from dataclasses import dataclass, field

from aeond_client.records.judgements import TaskProfile
from aeond_client.records.runs import (
    Amounts,
    Answer,
    Budget,
    ModelUse,
    Plan,
    Problem,
    RunState,
)


@dataclass(frozen=True, slots=True)
class RunCreated:
    """The run exists."""

    text: str
    """The request in plain language, 1 to 100,000 characters."""
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
    """The limits of the run."""
    plan: Plan | None = None
    """The plan given by the client. Not set: none."""
    logic_version: int = 0
    """The version of the logic that wrote the run's events."""
    parent_run_id: str = ""
    """The run that started this one. Empty: none."""
    depth: int = 0
    """The nesting level below a run that a client requested. 0: requested by a client."""
    forked_run_id: str = ""
    """The run that this one was forked from. Empty: none."""
    parent_step_id: str = ""
    """The step of that run that started this one. Empty: none."""
    lineage: tuple[str, ...] = ()
    """The reason for starting each ancestor and this run, outermost first."""
    instructions: str = ""
    """The system prompt from its template. Empty: none."""
    tools: tuple[str, ...] = ()
    """The only tools that a child run may use. Empty: none, or all for a run requested by a client."""
    taint: tuple[str, ...] = ()
    """Untrusted sources that the request comes from. Empty: the run starts untainted."""
    asking_tools: tuple[str, ...] = ()
    """The tools whose calls ask the model themselves, and for which more is reserved. Empty: none."""


@dataclass(frozen=True, slots=True)
class OperationStarted:
    """An operation is about to start."""

    operation: str
    """The operation."""
    reservation: Amounts = field(default_factory=Amounts)
    """The amounts reserved for it."""


@dataclass(frozen=True, slots=True)
class BudgetAdjusted:
    """The limits were changed between passes."""

    limit: Budget
    """The new limits."""
    reasons: tuple[str, ...] = ()
    """The reasons, as stable UPPER_SNAKE words."""
    profile: TaskProfile | None = None
    """The new estimate of the task. Not set: unchanged."""


@dataclass(frozen=True, slots=True)
class BudgetExhausted:
    """A dimension has too little left for the next operation."""

    dimension: str
    """The name of a field of Budget."""


@dataclass(frozen=True, slots=True)
class AnswerComposed:
    """The answer."""

    answer: Answer
    """The answer itself."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    model_use: ModelUse | None = None
    """Model usage. Not set: no model was called."""


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """A user cancelled the run."""

    reason: str = ""
    """The user's reason. Empty: none given."""
    uid: int = -1
    """User id. -1: unknown."""


@dataclass(frozen=True, slots=True)
class RunSuspended:
    """The run waits."""

    reason: str
    """The cause."""
    message: str = ""
    """The cause, for people."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The last event of a run."""

    state: RunState
    """SUCCEEDED, FAILED, CANCELLED or EXPIRED."""
    problem: Problem | None = None
    """The cause of a failure. Not set: it did not fail."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run was admitted: work begins."""


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The answer is being composed."""

    reservation: Amounts = field(default_factory=Amounts)
    """The amounts reserved for it."""


@dataclass(frozen=True, slots=True)
class RunParked:
    """The daemon stopped in an orderly way; work in flight starts again with the next daemon."""


@dataclass(frozen=True, slots=True)
class RunResumed:
    """A daemon resumed the run; interrupted steps follow their recovery rule."""
