"""Every kind of event, in the order of a run's life.

An event is journaled before anything except pure computation depends on it, and sent to clients only after it
is on disk. Kinds are facts in the past tense. The RunSnapshot is computed by folding the events and from
nothing else. The event that starts an operation contains its reservation; the event that ends it contains the
amounts used, and `model_use` if it called a model.
"""

from dataclasses import field
from typing import ClassVar, Final

from aeond.domain.outcome import Problem
from aeond.domain.plans.approval_events import ApprovalDecided as ApprovalDecided  # noqa: PLC0414 - a kind too
from aeond.domain.plans.approval_events import ApprovalRequested as ApprovalRequested  # noqa: PLC0414 - a kind too
from aeond.domain.plans.child_run_events import ChildRunEnded as ChildRunEnded  # noqa: PLC0414 - a kind too
from aeond.domain.plans.child_run_events import ChildRunStarted as ChildRunStarted  # noqa: PLC0414 - a kind too
from aeond.domain.plans.evaluations import Evaluation, RefinementAction
from aeond.domain.plans.plan import Clarity, Plan, PlanStep, StepState
from aeond.domain.plans.profiles import Route, TaskProfile
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.budgets import Amounts, Budget, ModelUse
from aeond.domain.runs.decisions import PolicyDecided as PolicyDecided  # noqa: PLC0414 - a kind like the others
from aeond.domain.runs.questions import Question
from aeond.domain.runs.run import (
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
from aeond.domain.tools import EFFECT_UNKNOWN, RecordedEffect, Recovery, ToolCall, ToolResult
from aeond.domain.values import JsonValue
from aeond.frozen import frozen

# Each run records the version of the logic that wrote it.
LOGIC_VERSION = 6

# Intents have a key: the id of their step, or this constant for operations of the run as a whole.
RUN_KEY: Final = ""


@frozen
class RunCreated:
    """The run exists. `taint` names the untrusted sources that its request comes from, `asking_tools` the tools whose calls
    ask the model themselves."""

    request: RunRequest
    budget: Budget
    plan: Plan | None = None  # given by the client: the planning phase is skipped
    logic_version: int = LOGIC_VERSION
    ancestry: Ancestry = field(default_factory=Ancestry)
    taint: tuple[str, ...] = ()
    asking_tools: tuple[str, ...] = ()


@frozen
class RunStarted:
    """The run was admitted and work begins."""


@frozen
class OperationStarted:
    """An operation is about to start. Planning and answering have kinds of their own."""

    operation: Operation
    reservation: Amounts
    key: ClassVar = RUN_KEY


@frozen
class ReferencesResolved:
    """The request with its references to the session resolved. `context` is the session part of later
    prompts, `note` explains what was rewritten or why nothing was, `standing` holds the user's latest
    earlier statements in the session, verbatim, for prompts without `context`. `taint` names the untrusted
    sources that the session has read.
    """

    original: str
    resolved: str
    context: str = ""
    used: Amounts = field(default_factory=Amounts)
    note: str = ""
    standing: tuple[str, ...] = ()
    taint: tuple[str, ...] = ()
    model_use: ModelUse | None = None


@frozen
class RouteChosen:
    """DIRECT is followed by PlanAdopted with `tool_call` as the only step; REPLY by AnswerComposed if the
    model answered at once. `shown` names the tools chosen for the run, if not all are shown.
    """

    route: Route
    tool_call: ToolCall | None = None
    used: Amounts = field(default_factory=Amounts)
    shown: tuple[str, ...] = ()
    model_use: ModelUse | None = None


@frozen
class ProfileInferred:
    """The estimated difficulty of the task. `fallback`: the estimate failed and the default is used."""

    profile: TaskProfile
    fallback: bool = False
    used: Amounts = field(default_factory=Amounts)
    model_use: ModelUse | None = None


@frozen
class BudgetAdjusted:
    """New limits, within the run's bound, at a pass boundary."""

    budget: Budget
    reasons: tuple[str, ...] = ()
    profile: TaskProfile | None = None  # the new estimate of the task, if it changed


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
    repairs: tuple[str, ...] = ()  # descriptions of the repairs made to the model's output
    model_use: ModelUse | None = None


@frozen
class PlanningFailed:
    problem: Problem
    used: Amounts = field(default_factory=Amounts)
    model_use: ModelUse | None = None


@frozen
class PassStarted:
    """A pass, which executes all steps that are ready, begins. Passes count from 1."""

    pass_index: int


@frozen
class StepStarted:
    """The intent: it is on disk before the step has any side effect."""

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
    """A step whose tool is missing was assigned a registered tool, or falls back to the model."""

    # the step from here on: with a new tool call and no errors, or with its errors and no tool
    step: PlanStep
    problem: Problem  # the errors before the repair
    used: Amounts = field(default_factory=Amounts)


@frozen
class StepEnded:
    """The outcome. `state` is SUCCEEDED, FAILED, INVALID, SKIPPED (interrupted) or UNKNOWN. `effects` are the
    changes made by the step and the child run that it started. `candidates` are values that exist for the
    argument at fault, if the tool knows some. `taint` names the untrusted sources of the output. `rule` and
    `policy_version` are those of the decision about a call that only computes and was allowed: it has no event of its own."""

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
    model_use: ModelUse | None = None  # None: no model was called
    effects: tuple[RecordedEffect, ...] = ()
    candidates: tuple[str, ...] = ()
    taint: tuple[str, ...] = ()
    rule: str = ""
    policy_version: str = ""

    @classmethod
    def of_call(cls, step_id: str, mode: StepMode, recovery: Recovery, result: ToolResult) -> "StepEnded":
        """The outcome of a step that called a tool."""
        unknown = result.reason in EFFECT_UNKNOWN and recovery is Recovery.ASK
        return cls(
            step_id,
            StepState.SUCCEEDED if result.success else StepState.UNKNOWN if unknown else StepState.FAILED,
            mode,
            output=result.data,
            error=result.error,
            reason=result.reason,
            effects=result.effects,
            candidates=result.candidates,
            taint=result.taint,
        )


@frozen
class InputRequested:
    """A step asks a person. Its cost so far is settled, and it waits without a time limit of its own."""

    question: Question
    used: Amounts = field(default_factory=Amounts)


@frozen
class InputAnswered:
    """The first valid answer, which becomes the step's output. `owner` is empty if the default answered."""

    question_id: str
    answer: JsonValue
    owner: Owner


@frozen
class PassEnded:
    pass_index: int


@frozen
class PassEvaluated:
    """A plan (pass 0) or a pass was evaluated."""

    evaluation: Evaluation
    used: Amounts = field(default_factory=Amounts)
    model_use: ModelUse | None = None


@frozen
class PlanRefined:
    """Steps that had not run were changed. `plan` is the whole plan after the change, or unchanged if no
    refinement applied.
    """

    plan: Plan
    applied: tuple[RefinementAction, ...] = ()
    skipped: tuple[Problem, ...] = ()
    used: Amounts = field(default_factory=Amounts)
    model_use: ModelUse | None = None


@frozen
class AnswerStarted:
    reservation: Amounts
    operation: ClassVar = Operation.ANSWER
    key: ClassVar = RUN_KEY


@frozen
class AnswerComposed:
    answer: Answer
    used: Amounts = field(default_factory=Amounts)
    model_use: ModelUse | None = None


@frozen
class BudgetExhausted:
    """A dimension has too little left for the next operation; `dimension` may be `wall_seconds`."""

    dimension: str


@frozen
class CancelRequested:
    owner: Owner
    reason: str = ""


@frozen
class RunParked:
    """The daemon stopped in an orderly way; work in flight starts again with the next daemon."""


@frozen
class RunResumed:
    """A daemon resumed the run; interrupted steps follow their recovery rule."""


@frozen
class RunSuspended:
    reason: SuspendReason
    message: str = ""


@frozen
class StepResolved:
    """A person decided. Without `step_id`, the decision is about a run suspended after crashes."""

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
    | PolicyDecided
    | StepRepaired
    | StepEnded
    | InputRequested
    | InputAnswered
    | ApprovalRequested
    | ApprovalDecided
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


OperationEnd = (
    ReferencesResolved
    | RouteChosen
    | ProfileInferred
    | PlanAdopted
    | PlanningFailed
    | PassEvaluated
    | PlanRefined
    | AnswerComposed
)
"""The first event of an operation's end settles its reservation."""

OperationIntent = OperationStarted | PlanningStarted | AnswerStarted
StepIntent = StepStarted | ChildRunStarted
Intent = OperationIntent | StepIntent
"""An event journaled before an action; it has a `key` and a `reservation`."""


@frozen
class Event:
    """A numbered event of a run. `seq` counts from 1 without gaps within a run.

    `time` is Unix time in seconds, for people. `elapsed_seconds` is the working time of the run so far by a
    monotonic clock, for limits: a jump of the wall clock moves no deadline.
    """

    run_id: str
    seq: int
    time: float
    elapsed_seconds: float
    kind: EventKind
