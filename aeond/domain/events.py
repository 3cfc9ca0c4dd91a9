"""What happens to a run: every kind of event, in the order of a run's life.

An event is journaled before anything but computing rests on it, and shown to a client only after it is on
disk. Kinds are facts in the past tense; folding them, and nothing else, makes the RunSnapshot. Reservations
are in the event that starts an operation, what was really used in the one that ends it.
"""

from dataclasses import field
from typing import ClassVar, Final

from aeond.domain.budgets import Amounts, Budget, ModelUse
from aeond.domain.evaluations import Evaluation, RefinementAction
from aeond.domain.outcome import Problem
from aeond.domain.plans import Clarity, Plan, PlanStep, StepState
from aeond.domain.profiles import Route, TaskProfile
from aeond.domain.questions import Question
from aeond.domain.runs import (
    Ancestry,
    Answer,
    Operation,
    Owner,
    PlanSource,
    Resolution,
    RunRequest,
    RunState,
    SuspendReason,
)
from aeond.domain.steps import StepMode
from aeond.domain.subtasks import ChildRun
from aeond.domain.tools import Recovery, ToolCall
from aeond.domain.values import JsonValue
from aeond.frozen import frozen

# Each run carries the version of the logic that wrote it.
LOGIC_VERSION = 3

# Intents have a key: the id of their step, or this for what is done for the run as a whole.
RUN_KEY: Final = ""


@frozen
class RunCreated:
    request: RunRequest
    budget: Budget
    plan: Plan | None = None  # given by the client: planning is skipped
    logic_version: int = LOGIC_VERSION
    ancestry: Ancestry = field(default_factory=Ancestry)


@frozen
class RunStarted:
    """Admitted: work begins."""


@frozen
class OperationStarted:
    """Anything but planning and answering, which have kinds of their own, is about to be done."""

    operation: Operation
    reservation: Amounts
    key: ClassVar = RUN_KEY


@frozen
class ReferencesResolved:
    """What the request means in its session. `context` is what later prompts are told of the session,
    `note` what was done to the words, or why they were kept, `standing` what the user said earlier that
    still holds."""

    original: str
    resolved: str
    context: str = ""
    used: Amounts = field(default_factory=Amounts)
    note: str = ""
    standing: tuple[str, ...] = ()


@frozen
class RouteChosen:
    """DIRECT is followed by the adoption of a plan with `tool_call` as its one step, REPLY by the answer where the
    model gave it at once."""

    route: Route
    tool_call: ToolCall | None = None
    used: Amounts = field(default_factory=Amounts)


@frozen
class ProfileInferred:
    """How hard the task looks. `fallback`: it could not be told, this is the default."""

    profile: TaskProfile
    fallback: bool = False
    used: Amounts = field(default_factory=Amounts)


@frozen
class BudgetAdjusted:
    """New limits, within the run's bound, at a pass boundary."""

    budget: Budget
    reasons: tuple[str, ...] = ()
    profile: TaskProfile | None = None  # what the task now looks like, if that changed


@frozen
class PlanningStarted:
    reservation: Amounts
    operation: ClassVar = Operation.PLAN
    key: ClassVar = RUN_KEY


@frozen
class PlanAdopted:
    plan: Plan
    source: PlanSource
    used: Amounts = field(default_factory=Amounts)
    repairs: tuple[str, ...] = ()  # what was mended in the model's output, in plain words


@frozen
class PlanningFailed:
    problem: Problem
    used: Amounts = field(default_factory=Amounts)


@frozen
class PassStarted:
    """A round of executing all that is ready begins; counts from 1."""

    pass_index: int


@frozen
class StepStarted:
    """The intent: on disk before the step touches the world."""

    step: PlanStep  # as executed: with its incoming context and indices
    attempt: int
    mode: StepMode
    recovery: Recovery
    reservation: Amounts

    @property
    def key(self) -> str:
        return self.step.step_id


@frozen
class StepRepaired:
    """A step whose tool is missing was given a registered one, or falls back to the model."""

    step: PlanStep  # as it goes on: its tool call replaced and errors cleared, or errors kept and no tool
    problem: Problem  # what was wrong with it
    used: Amounts = field(default_factory=Amounts)


@frozen
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
    model_use: ModelUse | None = None  # None: no model was asked


@frozen
class InputRequested:
    """A step asks a person; what it cost so far is settled, and it waits for as long as it takes."""

    question: Question
    used: Amounts = field(default_factory=Amounts)


@frozen
class InputAnswered:
    """The first valid answer, which is the step's output. `owner` is nobody's when the default answered."""

    question_id: str
    answer: JsonValue
    owner: Owner


@frozen
class ChildRunStarted:
    """A step's subtask is about to be done by a run of its own, whose budget is reserved here.

    `used` is what the step cost until now.
    """

    step_id: str
    child: ChildRun
    used: Amounts = field(default_factory=Amounts)

    @property
    def key(self) -> str:
        return self.step_id

    @property
    def mode(self) -> StepMode:
        return StepMode.TOOL

    @property
    def reservation(self) -> Amounts:
        return self.child.budget.amounts


@frozen
class ChildRunEnded:
    """That run has ended, and what it used of its budget; followed by the end of the step."""

    step_id: str
    child_run_id: str
    state: RunState
    used: Amounts = field(default_factory=Amounts)


@frozen
class PassEnded:
    pass_index: int


@frozen
class PassEvaluated:
    """A plan (pass 0) or a pass was judged."""

    evaluation: Evaluation
    used: Amounts = field(default_factory=Amounts)


@frozen
class PlanRefined:
    """Steps that had not run were changed; `plan` is the whole plan after it, as it was if nothing applied."""

    plan: Plan
    applied: tuple[RefinementAction, ...] = ()
    skipped: tuple[Problem, ...] = ()
    used: Amounts = field(default_factory=Amounts)


@frozen
class AnswerStarted:
    reservation: Amounts
    operation: ClassVar = Operation.ANSWER
    key: ClassVar = RUN_KEY


@frozen
class AnswerComposed:
    answer: Answer
    used: Amounts = field(default_factory=Amounts)


@frozen
class BudgetExhausted:
    """A dimension has nothing left for what the run needs next; `dimension` may be `wall_seconds`."""

    dimension: str


@frozen
class CancelRequested:
    owner: Owner
    reason: str = ""


@frozen
class RunParked:
    """The daemon stopped in order; what was in flight starts again with the next one."""


@frozen
class RunResumed:
    """A daemon took the run up again; steps cut short go by their recovery rule."""


@frozen
class RunSuspended:
    reason: SuspendReason
    message: str = ""


@frozen
class StepResolved:
    """A person decided. Without `step_id`: about a run suspended after crashes."""

    resolution: Resolution
    owner: Owner
    step_id: str = ""


@frozen
class RunEnded:
    state: RunState
    problem: Problem | None = None


EventKind = (
    RunCreated
    | RunStarted
    | OperationStarted
    | ReferencesResolved
    | RouteChosen
    | ProfileInferred
    | BudgetAdjusted
    | PlanningStarted
    | PlanAdopted
    | PlanningFailed
    | PassStarted
    | StepStarted
    | StepRepaired
    | StepEnded
    | InputRequested
    | InputAnswered
    | ChildRunStarted
    | ChildRunEnded
    | PassEnded
    | PassEvaluated
    | PlanRefined
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


OperationIntent = OperationStarted | PlanningStarted | AnswerStarted
StepIntent = StepStarted | ChildRunStarted
Intent = OperationIntent | StepIntent
"""What is journaled before something is done; each has a `key` and a `reservation`."""


@frozen
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


@frozen
class TextDelta:
    """A piece of text as the model writes it: shown live, never journaled, never numbered.

    `step_id` is "" for the answer. `offset` is where the piece starts in the text so far, in characters:
    a piece with offset 0 starts the text anew (a step that is asked again).
    """

    run_id: str
    step_id: str
    text: str
    offset: int


@frozen
class Progress:
    """What a run is waiting for right now, for people: never journaled. `fraction` is 0..1, or -1 if unknown."""

    run_id: str
    step_id: str
    activity: str
    fraction: float = -1.0


LiveUpdate = TextDelta | Progress
