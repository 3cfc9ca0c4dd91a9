"""What happens to a run: every kind of event, in the order of a run's life.

An event is journaled before it is acted on and shown to a client only after it is on disk. Kinds are
facts in the past tense; folding them, and nothing else, makes the RunSnapshot. Reservations are in the
event that starts an operation, what was really used in the one that ends it.
"""

from dataclasses import dataclass, field

from aeond.domain.budgets import Amounts, Budget
from aeond.domain.outcome import Problem
from aeond.domain.plans import Clarity, Plan, PlanStep, StepState
from aeond.domain.runs import (
    Answer,
    Owner,
    PlanSource,
    Resolution,
    RunRequest,
    RunState,
    SuspendReason,
)
from aeond.domain.steps import StepMode
from aeond.domain.tools import Recovery
from aeond.domain.values import JsonValue

# Each run carries the version of the logic that wrote it.
LOGIC_VERSION = 1


@dataclass(frozen=True, slots=True)
class RunCreated:
    request: RunRequest
    budget: Budget
    plan: Plan | None = None  # given by the client: planning is skipped
    logic_version: int = LOGIC_VERSION


@dataclass(frozen=True, slots=True)
class RunStarted:
    """Admitted: work begins."""


@dataclass(frozen=True, slots=True)
class PlanningStarted:
    reservation: Amounts


@dataclass(frozen=True, slots=True)
class PlanAdopted:
    plan: Plan
    source: PlanSource
    used: Amounts = field(default_factory=Amounts)
    repairs: tuple[str, ...] = ()  # what was mended in the model's output, in plain words


@dataclass(frozen=True, slots=True)
class PlanningFailed:
    problem: Problem
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class PassStarted:
    """A round of executing all that is ready begins; counts from 1."""

    pass_index: int


@dataclass(frozen=True, slots=True)
class StepStarted:
    """The intent: on disk before the step touches the world."""

    step: PlanStep  # as executed: with its incoming context and indices
    attempt: int
    mode: StepMode
    recovery: Recovery
    reservation: Amounts


@dataclass(frozen=True, slots=True)
class StepRepaired:
    """A step whose tool is missing was given a registered one, or falls back to the model."""

    step: PlanStep  # as it goes on: its tool call replaced and errors cleared, or errors kept and no tool
    problem: Problem  # what was wrong with it
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class StepEnded:
    """The outcome. `state` is SUCCEEDED, FAILED, INVALID, SKIPPED (interrupted) or UNKNOWN."""

    step_id: str
    state: StepState
    mode: StepMode
    output: JsonValue = None
    error: str = ""
    reason: str = ""
    clarity: Clarity | None = None
    handoff: str = ""
    used: Amounts = field(default_factory=Amounts)
    duration_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PassEnded:
    pass_index: int


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    reservation: Amounts


@dataclass(frozen=True, slots=True)
class AnswerComposed:
    answer: Answer
    used: Amounts = field(default_factory=Amounts)


@dataclass(frozen=True, slots=True)
class BudgetExhausted:
    """A dimension has nothing left for what the run needs next; `dimension` may be `wall_seconds`."""

    dimension: str


@dataclass(frozen=True, slots=True)
class CancelRequested:
    owner: Owner
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunParked:
    """The daemon stopped in order; what was in flight starts again with the next one."""


@dataclass(frozen=True, slots=True)
class RunResumed:
    """A daemon took the run up again; steps cut short go by their recovery rule."""


@dataclass(frozen=True, slots=True)
class RunSuspended:
    reason: SuspendReason
    message: str = ""


@dataclass(frozen=True, slots=True)
class StepResolved:
    """A person decided. Without `step_id`: about a run suspended after crashes."""

    resolution: Resolution
    owner: Owner
    step_id: str = ""


@dataclass(frozen=True, slots=True)
class RunEnded:
    state: RunState
    problem: Problem | None = None


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
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `seq` counts from 1 without gaps within a run.

    `time` is Unix time in seconds (for people); `elapsed_seconds` is the working time of the run so far
    by a monotonic clock (for bounds), so that a jump of the wall clock moves no deadline.
    """

    run_id: str
    seq: int
    time: float
    elapsed_seconds: float
    kind: EventKind


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text as the model writes it: shown live, never journaled, never numbered.

    `step_id` is "" for the answer. `offset` is where the piece starts in the text so far, in characters:
    a piece with offset 0 starts the text anew (a step that is asked again).
    """

    run_id: str
    step_id: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run is waiting for right now, for people: never journaled. `fraction` is 0..1, or -1 if unknown."""

    run_id: str
    step_id: str
    activity: str
    fraction: float = -1.0


LiveUpdate = TextDelta | Progress
