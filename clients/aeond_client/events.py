"""What happens to a run, as a watcher is told.

Numbered events come gapless, each once; TextDelta and Progress are shown live and carry no number.
"""

from dataclasses import dataclass, field
from typing import Any

from aeond_client.judgements import Issue, Question, TaskProfile
from aeond_client.runs import Amounts, Answer, Budget, ModelUse, Plan, PlanStep, Problem, RunState, StepState


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
    """The model is asked for a plan."""


@dataclass(frozen=True, slots=True)
class PlanAdopted:
    """There is a plan; `source` is `client` or `model`, `repairs` what was mended in the model's output."""

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
    """A step is about to touch the world; `mode` is `tool`, `agent`, `repair` or `fallback`."""

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
    """A bound has nothing left for what the run needs next."""

    dimension: str


@dataclass(frozen=True, slots=True)
class CancelRequested:
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunParked:
    """The daemon stops in order; the next one goes on."""


@dataclass(frozen=True, slots=True)
class RunResumed:
    """A daemon took the run up again."""


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
    """Something is about to be thought through for the run as a whole: resolve, route, profile, evaluate
    or refine."""

    operation: str


@dataclass(frozen=True, slots=True)
class ReferencesResolved:
    """What the request means in its session; `note` says what was done to the words, or why they were kept,
    `standing` what the user said earlier that still holds."""

    original: str
    resolved: str
    context: str = ""
    note: str = ""
    standing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteChosen:
    """The way the request takes: direct, reply or plan."""

    route: str
    tool: str = ""
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class ProfileInferred:
    """How hard the task looks; `fallback`: it could not be told."""

    profile: TaskProfile
    fallback: bool = False
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class BudgetAdjusted:
    """The run's bounds from here on, and why."""

    limit: Budget
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassEvaluated:
    """A plan that has not run (pass 0) or a pass was judged; the scores are 0 to 1."""

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
    """One change to a step that had not run: add, modify, remove or replace."""

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
    """The first valid answer; `uid` is -1 where the default answered."""

    question_id: str
    answer: Any
    uid: int = -1


@dataclass(frozen=True, slots=True)
class ChildRunStarted:
    """A step has its work done by a run of its own."""

    step_id: str
    child_run_id: str
    template: str
    description: str = ""
    limit: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class ChildRunEnded:
    """That run has ended; `used` is what it cost."""

    step_id: str
    child_run_id: str
    state: RunState
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Text as the model writes it; `step_id` is "" for the answer.

    `offset` is where the piece starts in the text so far, in characters; 0 starts the text anew.
    """

    text: str
    offset: int = 0
    step_id: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """What the run is waiting for right now; `fraction` is 0..1, or -1 where nobody knows."""

    activity: str
    fraction: float = -1.0
    step_id: str = ""


@dataclass(frozen=True, slots=True)
class UnknownKind:
    """Something that this client has no class for; `name` is what the contract calls it ("" where the
    daemon is newer than the contract). It is numbered like any other event.
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
    """Something that happened. `seq` counts from 1 within a run; 0 is for what is shown live only.

    `time` is Unix time in seconds, `elapsed_seconds` the run's working time so far; both 0 with seq 0.
    """

    run_id: str
    seq: int
    time: float
    elapsed_seconds: float
    kind: EventKind
