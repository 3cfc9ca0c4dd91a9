"""The events of a run as its watchers receive them.

Numbered events arrive once and without gaps; TextDelta and Progress are live updates without a number.
"""

from dataclasses import dataclass, field
from typing import Any

from aeond_client.judgements import Issue, Question, TaskProfile
from aeond_client.runs import Amounts, Answer, Budget, ModelUse, Plan, PlanStep, Problem, RunState, StepState
from aeond_client.tools import RecordedEffect


@dataclass(frozen=True, slots=True)
class RunCreated:
    text: str
    request_id: str = ""
    session_id: str = ""
    workspace: str = ""
    limit: Budget = field(default_factory=Budget)
    plan: Plan | None = None
    labels: dict[str, str] = field(default_factory=dict)
    model: str = ""
    parent_run_id: str = ""
    forked_run_id: str = ""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """Work begins."""


@dataclass(frozen=True, slots=True)
class PlanningStarted:
    """The model is called for a plan."""


@dataclass(frozen=True, slots=True)
class PlanAdopted:
    """The plan; `source` is `client` or `model`, `repairs` lists repairs of the model's output."""

    plan: Plan
    source: str = ""
    used: Amounts = field(default_factory=Amounts)
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanningFailed:
    problem: Problem
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class PassStarted:
    pass_index: int


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step is about to start; `mode` is `tool`, `agent`, `repair` or `fallback`."""

    step: PlanStep
    attempt: int = 1
    mode: str = ""


@dataclass(frozen=True, slots=True)
class StepRepaired:
    step: PlanStep
    problem: Problem


@dataclass(frozen=True, slots=True)
class StepEnded:
    step_id: str
    state: StepState
    mode: str = ""
    output: Any = None
    error: str = ""
    reason: str = ""
    clarity: str = ""
    handoff: str = ""
    used: Amounts = field(default_factory=Amounts)
    duration_seconds: float = 0.0
    model_use: ModelUse | None = None
    effects: tuple[RecordedEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class PassEnded:
    pass_index: int


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The answer is being composed."""


@dataclass(frozen=True, slots=True)
class AnswerComposed:
    answer: Answer
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class BudgetExhausted:
    """A dimension has too little left for the next operation."""

    dimension: str


@dataclass(frozen=True, slots=True)
class CancelRequested:
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunParked:
    """The daemon stopped in an orderly way; the next one resumes the run."""


@dataclass(frozen=True, slots=True)
class RunResumed:
    """A daemon resumed the run."""


@dataclass(frozen=True, slots=True)
class RunSuspended:
    """The run waits; `reason` is `unknown_step`, `repeated_crashes` or `disk_full`."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class StepResolved:
    """A person decided about a step, or, without `step_id`, about the run."""

    resolution: str
    step_id: str = ""


@dataclass(frozen=True, slots=True)
class RunEnded:
    state: RunState
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class OperationStarted:
    """An operation of the run as a whole is about to start: resolve, route, profile, evaluate or refine."""

    operation: str


@dataclass(frozen=True, slots=True)
class ReferencesResolved:
    """The request with its references resolved; `note` explains what was rewritten or why nothing was,
    `standing` holds earlier statements of the user that still apply.
    """

    original: str
    resolved: str
    context: str = ""
    note: str = ""
    standing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteChosen:
    """The route of the request: direct, reply or plan."""

    route: str
    tool: str = ""
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class ProfileInferred:
    """The estimated difficulty of the task; `fallback`: the estimate failed."""

    profile: TaskProfile
    fallback: bool = False
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class BudgetAdjusted:
    """The run's limits from here on, with the reason."""

    limit: Budget
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassEvaluated:
    """A plan that has not run (pass 0) or a pass was evaluated; the scores are 0 to 1."""

    pass_index: int
    converged: bool
    reasons: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()
    completeness: float = 0.0
    coherence: float = 0.0
    consistency: float = 0.0
    final_output: str = ""
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class Refinement:
    """A change to one step that had not run: add, modify, remove or replace."""

    operation: str
    step_id: str
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class PlanRefined:
    """The plan after its changes."""

    plan: Plan
    applied: tuple[Refinement, ...] = ()
    skipped: tuple[Problem, ...] = ()
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class InputRequested:
    """A step asks a person and waits."""

    question: Question


@dataclass(frozen=True, slots=True)
class InputAnswered:
    """The first valid answer; `uid` is -1 if the default answered."""

    question_id: str
    answer: Any
    uid: int = -1


@dataclass(frozen=True, slots=True)
class ChildRunStarted:
    """A step started a child run."""

    step_id: str
    child_run_id: str
    template: str
    description: str = ""
    limit: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class ChildRunEnded:
    """The child run ended; `used` is its cost."""

    step_id: str
    child_run_id: str
    state: RunState
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Text as the model generates it; `step_id` is "" for the answer.

    `offset` is the position of the piece in the text, in characters; 0 discards the earlier text.
    """

    text: str
    offset: int = 0
    step_id: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """The current activity of the run; `fraction` is 0..1, or -1 if unknown."""

    activity: str
    fraction: float = -1.0
    step_id: str = ""


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
    | OperationStarted
    | ReferencesResolved
    | RouteChosen
    | ProfileInferred
    | BudgetAdjusted
    | PassEvaluated
    | PlanRefined
    | InputRequested
    | InputAnswered
    | ChildRunStarted
    | ChildRunEnded
    | TextDelta
    | Progress
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
