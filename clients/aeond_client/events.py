# Generated from protos/ by `make proto`; never edited.
"""The events of a run as its watchers receive them.

Numbered events arrive once and without gaps; TextDelta and Progress are live updates without a number."""

from dataclasses import dataclass, field
from typing import Any

from aeond_client.judgements import ApprovalRequest, Issue, Question, TaskProfile
from aeond_client.runs import (
    Amounts,
    Answer,
    Budget,
    ModelUse,
    Plan,
    PlanStep,
    Problem,
    RunState,
    StepState,
)
from aeond_client.tools import RecordedEffect


@dataclass(frozen=True, slots=True)
class Refinement:
    """One change to a plan."""

    operation: str
    """The operation."""
    step_id: str
    """The step to change. Empty: a new one."""
    step: PlanStep | None = None
    """The step after the change. Not set: removed."""
    rationale: str = ""
    """The reason, for people."""


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
    """Whether the run is suspended as soon as a call needs approval. False: only if nobody watches it
    for a while."""
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
class PlanAdopted:
    """There is a plan."""

    plan: Plan
    """The plan."""
    source: str = ""
    """The author of the plan."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    repairs: tuple[str, ...] = ()
    """Descriptions of the repairs made to the model's output."""
    model_use: ModelUse | None = None
    """Model usage. Not set: no model was called."""


@dataclass(frozen=True, slots=True)
class PlanningFailed:
    """No plan could be made."""

    problem: Problem
    """The cause."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    model_use: ModelUse | None = None
    """Model usage. Not set: no model was called."""


@dataclass(frozen=True, slots=True)
class PassStarted:
    """A pass, which executes all steps that are ready, begins."""

    pass_index: int
    """Counts from 1."""


@dataclass(frozen=True, slots=True)
class StepStarted:
    """The intent: on disk before the step has any side effect."""

    step: PlanStep
    """The step as executed, with its incoming context and indices."""
    attempt: int = 1
    """Counts its starts from 1."""
    mode: str = ""
    """How it is executed."""
    recovery: str = ""
    """How a restart would treat it."""
    reservation: Amounts = field(default_factory=Amounts)
    """The amounts reserved for it."""


@dataclass(frozen=True, slots=True)
class PolicyDecided:
    """The policy allowed, asked or denied. Recorded with the outcome of the call."""

    step_id: str
    """The step."""
    verdict: str
    """The decision."""
    tool: str = ""
    """The tool's name; never empty."""
    effect: str = ""
    """The effect on which the decision is based."""
    rule: str = ""
    """The rule that decided. Empty: none matched."""
    policy_version: str = ""
    """The version of the policy."""
    tainted: bool = False
    """Whether the run had read untrusted data."""
    facts: dict[str, Any] = field(default_factory=dict)
    """The facts on which the decision is based, a JSON object."""
    reason: str = ""
    """The reason, for people."""
    adds: tuple[str, ...] = ()
    """Untrusted sources that the call reads. They taint the run from here on."""


@dataclass(frozen=True, slots=True)
class StepRepaired:
    """A step whose tool is missing was assigned a registered one, or passed to the model."""

    step: PlanStep
    """The repaired step."""
    problem: Problem
    """The error before the repair."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used by the repair."""


@dataclass(frozen=True, slots=True)
class StepEnded:
    """The outcome of a step."""

    step_id: str
    """The step."""
    state: StepState
    """SUCCEEDED, FAILED, INVALID, SKIPPED or UNKNOWN."""
    mode: str = ""
    """How it was executed."""
    output: Any = None
    """The output."""
    error: str = ""
    """The cause of a failure, for people. Empty: it did not fail."""
    reason: str = ""
    """The cause of a failure, for programs. Empty: it did not fail."""
    clarity: str = ""
    """Its confidence in the output."""
    handoff: str = ""
    """The text passed to the steps that depend on it."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    duration_seconds: float = 0.0
    """Its duration."""
    model_use: ModelUse | None = None
    """Model usage of the step. Not set: no model was called."""
    effects: tuple[RecordedEffect, ...] = ()
    """The changes made by the step and the child run that it started, in order. Empty: no tool reported
    a change."""
    candidates: tuple[str, ...] = ()
    """Values that exist for the argument at fault, the most likely first. Empty: it did not fail, or
    the tool knows none."""
    taint: tuple[str, ...] = ()
    """Untrusted sources of the output. They taint the run from here on."""
    rule: str = ""
    """The rule that allowed a call that only computes. Empty: the decision has an event of its own, or
    none was made."""
    policy_version: str = ""
    """The version of the policy that allowed such a call."""


@dataclass(frozen=True, slots=True)
class PassEnded:
    """A pass has ended."""

    pass_index: int
    """The pass."""


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
class BudgetExhausted:
    """A dimension has too little left for the next operation."""

    dimension: str
    """The name of a field of Budget."""


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
class StepResolved:
    """A person decided."""

    resolution: str
    """The decision."""
    step_id: str = ""
    """The step. Empty: the decision is about a run suspended after crashes."""
    uid: int = -1
    """User id. -1: unknown."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The last event of a run."""

    state: RunState
    """SUCCEEDED, FAILED, CANCELLED or EXPIRED."""
    problem: Problem | None = None
    """The cause of a failure. Not set: it did not fail."""


@dataclass(frozen=True, slots=True)
class OperationStarted:
    """An operation is about to start."""

    operation: str
    """The operation."""
    reservation: Amounts = field(default_factory=Amounts)
    """The amounts reserved for it."""


@dataclass(frozen=True, slots=True)
class ReferencesResolved:
    """References such as "that", "it" and "again" were resolved from the session."""

    original: str
    """The user's request."""
    resolved: str
    """The request with references resolved."""
    context: str = ""
    """The session part of later prompts. Empty: none."""
    note: str = ""
    """What was rewritten, or why a possible reference was not. Empty: nothing to report."""
    standing: tuple[str, ...] = ()
    """The user's latest earlier statements in the session, verbatim."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    taint: tuple[str, ...] = ()
    """Untrusted sources that earlier runs of the session have read. They taint the run from here on."""
    model_use: ModelUse | None = None
    """Model usage. Not set: no model was called."""


@dataclass(frozen=True, slots=True)
class RouteChosen:
    """The route of the request. If the model replied at once, AnswerComposed follows without
    AnswerStarted."""

    route: str
    """The route."""
    tool: str = ""
    """The tool's name; never empty."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    shown: tuple[str, ...] = ()
    """The tools chosen for the run, sorted, where too many are registered to show them all. Empty: all
    are shown."""
    model_use: ModelUse | None = None
    """Model usage. Not set: no model was called."""


@dataclass(frozen=True, slots=True)
class ProfileInferred:
    """The estimated difficulty of the task."""

    profile: TaskProfile
    """The profile."""
    fallback: bool = False
    """Whether the estimate failed and the default is used."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    model_use: ModelUse | None = None
    """Model usage. Not set: no model was called."""


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
class PassEvaluated:
    """A pass was evaluated."""

    pass_index: int
    """The pass."""
    converged: bool
    """Whether the work is done."""
    reasons: tuple[str, ...] = ()
    """The reasons, as stable UPPER_SNAKE words."""
    issues: tuple[Issue, ...] = ()
    """The issues found."""
    completeness: float | None = None
    """How far the request is fulfilled, 0 to 1. Valid if scored."""
    coherence: float | None = None
    """How well the parts fit together, 0 to 1. Valid if scored."""
    consistency: float | None = None
    """How far the parts agree, 0 to 1. Valid if scored."""
    final_output: str = ""
    """The proposed final output. Empty: none."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    scored: bool = False
    """Whether a model judged. If not, there are no scores."""
    model_use: ModelUse | None = None
    """Model usage. Not set: no model was called."""


@dataclass(frozen=True, slots=True)
class PlanRefined:
    """Steps that had not run were changed."""

    plan: Plan
    """The plan after the changes."""
    applied: tuple[Refinement, ...] = ()
    """The applied changes."""
    skipped: tuple[Problem, ...] = ()
    """Requested changes that were not applied, each with the reason."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""
    model_use: ModelUse | None = None
    """Model usage. Not set: no model was called."""


@dataclass(frozen=True, slots=True)
class InputRequested:
    """The run asks a person."""

    question: Question
    """The question."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used by the step before it asked."""


@dataclass(frozen=True, slots=True)
class InputAnswered:
    """A person answered, or the default did."""

    question_id: str
    """The question."""
    answer: Any
    """The answer."""
    uid: int = -1
    """User id. -1: unknown."""


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call or plan waits for approval."""

    approval: ApprovalRequest
    """The approval. A repeat adds a step that waits for it as well."""
    step_id: str = ""
    """The step that waits from here on."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used by the step so far."""


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """An approval was given or denied."""

    approval_id: str
    """The approval."""
    approved: bool
    """Whether it was given."""
    uid: int = -1
    """User id. -1: unknown."""
    digest: str = ""
    """The digest that the person was shown."""
    scope: str = ""
    """What it covers, if it was given."""
    expired: bool = False
    """Whether it timed out."""


@dataclass(frozen=True, slots=True)
class ChildRunStarted:
    """A step started a child run."""

    step_id: str
    """The step."""
    child_run_id: str
    """The child run."""
    template: str
    """The template that was selected."""
    description: str = ""
    """Its task."""
    limit: Budget = field(default_factory=Budget)
    """Its share of the budget."""
    inputs: dict[str, Any] = field(default_factory=dict)
    """Its inputs: an object."""
    hints: tuple[str, ...] = ()
    """The hints by which the template was selected, in addition to the names of the inputs."""
    lineage: tuple[str, ...] = ()
    """The reason for starting each ancestor and this run, outermost first."""
    instructions: str = ""
    """The system prompt from its template. Empty: none."""
    tools: tuple[str, ...] = ()
    """The only tools it may use. Empty: none."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used by the step so far."""
    agent: str = ""
    """The agent of its only step, from its template. Empty: its steps are decided by the model."""


@dataclass(frozen=True, slots=True)
class ChildRunEnded:
    """A child run has ended."""

    step_id: str
    """The step."""
    child_run_id: str
    """The run."""
    state: RunState
    """The end state."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text as the model generates it, or as the program of a step prints it. Not
    journaled."""

    text: str
    """The piece."""
    offset: int = 0
    """The position of the piece in the text, in characters. 0: earlier text is discarded."""
    step_id: str = ""
    """The step. Empty: the answer."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The current activity of a run, for people. Not journaled."""

    activity: str
    """The activity."""
    fraction: float = -1.0
    """The progress, 0 to 1. -1: unknown."""
    step_id: str = ""
    """The step. Empty: the run."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run was admitted: work begins."""


@dataclass(frozen=True, slots=True)
class PlanningStarted:
    """A plan is being made."""

    reservation: Amounts = field(default_factory=Amounts)
    """The amounts reserved for it."""


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


@dataclass(frozen=True, slots=True)
class Queued:
    """The run waits for its turn. Sent whenever its place changes, and when a client starts to watch.
    Not journaled."""

    ahead: int = 0
    """The number of runs that start before it. 0: it is the next one."""


@dataclass(frozen=True, slots=True)
class UnknownKind:
    """An event for which this client has no class; `name` is its name in the contract ("" if the daemon is
    newer than the contract). It is numbered like any other event.
    """

    name: str = ""


EventKind = (
    RunCreated
    | RunStarted
    | PlanningStarted
    | PlanAdopted
    | PlanningFailed
    | PassStarted
    | StepStarted
    | StepRepaired
    | StepEnded
    | PassEnded
    | AnswerStarted
    | AnswerComposed
    | BudgetExhausted
    | CancelRequested
    | RunParked
    | RunResumed
    | RunSuspended
    | StepResolved
    | RunEnded
    | ProfileInferred
    | RouteChosen
    | ReferencesResolved
    | PassEvaluated
    | PlanRefined
    | BudgetAdjusted
    | InputRequested
    | InputAnswered
    | ChildRunStarted
    | ChildRunEnded
    | PolicyDecided
    | ApprovalRequested
    | ApprovalDecided
    | OperationStarted
    | TextDelta
    | Progress
    | Queued
    | UnknownKind
)


@dataclass(frozen=True, slots=True)
class Event:
    """An event. `seq` counts from 1 within a run; 0 marks a live update.

    `time` is Unix time in seconds, `elapsed_seconds` the run's working time so far; both are 0 if seq is 0.
    """

    run_id: str
    seq: int
    time: float
    elapsed_seconds: float
    kind: EventKind
