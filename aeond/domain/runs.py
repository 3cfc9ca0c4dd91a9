"""Runs: one bounded execution of one request, and all that is known of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aeond.domain.budgets import Amounts, Budget, BudgetLedger
from aeond.domain.evaluations import Evaluation
from aeond.domain.outcome import Problem
from aeond.domain.plans import Plan, StepState
from aeond.domain.profiles import Route, TaskProfile
from aeond.domain.questions import Question
from aeond.domain.steps import Steps, StepSnapshot
from aeond.domain.tools import ToolContext
from aeond.frozen import frozen

MAX_REQUEST_CHARS = 100_000


class RunState(StrEnum):
    """The place of a run in its life."""

    PENDING = "pending"
    RUNNING = "running"
    AWAITING_INPUT = "awaiting_input"
    SUSPENDED = "suspended"  # waits for a person, or for room on the disk
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"  # a budget ran out; it still has an answer

    @property
    def ended(self) -> bool:
        return self in (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.EXPIRED)


class Phase(StrEnum):
    """Which part of the work a running run is in."""

    PROFILE = "profile"  # A: references, route, profile
    PLAN = "plan"  # B: draft, judge, refine
    EXECUTE = "execute"  # C: a pass
    ADAPT = "adapt"  # C and D: between passes: judge, refine, adapt the depth
    ANSWER = "answer"  # E


class Operation(StrEnum):
    """What a run as a whole asks its phases for, one at a time."""

    RESOLVE = "resolve"  # session context, and what "that" and "it" mean
    ROUTE = "route"
    PROFILE = "profile"
    PLAN = "plan"
    EVALUATE = "evaluate"
    REFINE = "refine"
    ANSWER = "answer"


class PlanSource(StrEnum):
    CLIENT = "client"
    MODEL = "model"


class SuspendReason(StrEnum):
    UNKNOWN_STEP = "unknown_step"  # a step with effects was cut by a crash
    REPEATED_CRASHES = "repeated_crashes"  # live in three crashes: not resumed by itself
    DISK_FULL = "disk_full"


class Resolution(StrEnum):
    """What a person decides about an UNKNOWN step, or about a run suspended after crashes."""

    RETRY = "retry"
    DONE = "done"
    ABORT = "abort"


@frozen
class Owner:
    """Who asked, as the kernel of Linux tells it; -1 where it could not be told."""

    uid: int = -1
    pid: int = -1


@frozen
class RunRequest:
    """What a client asks for.

    `request_id` makes creation idempotent ("" for none). `workspace` is the absolute path of the folder
    that the run's file tools are contained in ("" for one of the daemon's own). `instructions` and
    `tools` are set for child runs by their Template: a system prompt, and the only tools allowed (None
    for all).
    """

    text: str
    request_id: str = ""
    session_id: str = ""
    workspace: str = ""
    parallel_steps: int = 4
    owner: Owner = field(default_factory=Owner)
    labels: Mapping[str, str] = field(default_factory=dict)
    instructions: str = ""
    tools: tuple[str, ...] | None = None
    model: str = ""  # of the catalogue; "" for the one that is chosen when a step asks


@frozen
class Ancestry:
    """Where a run comes from. `lineage` names what each run above it and it itself were started for
    (template and digest of the inputs), outermost first: empty for a run that a client asked for."""

    parent_run_id: str = ""
    parent_step_id: str = ""
    lineage: tuple[str, ...] = ()
    forked_run_id: str = ""

    @property
    def depth(self) -> int:
        return len(self.lineage)


@frozen
class Answer:
    """What a run ends with: the text, the steps it rests on, how sure, what is missing.

    `synthesized` tells whether a model wrote the text; otherwise it is the steps' own output.
    """

    text: str
    step_ids: tuple[str, ...] = ()
    confidence: float = 1.0
    notes: tuple[str, ...] = ()
    budget_exhausted: bool = False
    synthesized: bool = False


@dataclass(frozen=True)  # without slots, for copying.replace
class RunSnapshot:
    """All that is known of a run, folded from its events.

    `seq` is that of the last event folded (0: none). `operation` is the reservation of an Operation in
    flight. `elapsed_seconds` is time spent working over all incarnations of the daemon. `bound` is what
    the budget may be adjusted to at most. `resolved_text` is the request with its references spelled out
    (None: not resolved), `context` what the session brought and `standing` the user's words in it that
    still hold. `evaluation` is of the current plan or
    pass; `refinements` counts the rounds in which each fragment was changed, `refinement_count`
    all rounds.
    """

    run_id: str
    seq: int = 0
    state: RunState = RunState.PENDING
    phase: Phase | None = None
    logic_version: int = 0
    request: RunRequest = field(default_factory=lambda: RunRequest(text=""))
    ancestry: Ancestry = field(default_factory=Ancestry)
    bound: Budget = field(default_factory=Budget)
    ledger: BudgetLedger = field(default_factory=BudgetLedger)
    resolved_text: str | None = None
    context: str = ""
    standing: tuple[str, ...] = ()
    route: Route | None = None
    profile: TaskProfile | None = None
    plan: Plan | None = None
    plan_source: PlanSource | None = None
    steps: Steps = field(default_factory=dict)
    pass_index: int = 0
    pass_open: bool = False
    evaluation: Evaluation | None = None
    refinements: Mapping[str, int] = field(default_factory=dict)
    refinement_count: int = 0
    operation: Amounts | None = None
    answer: Answer | None = None
    problem: Problem | None = None
    cancel_requested: bool = False
    exhausted: str = ""
    parked: bool = False
    crashes: int = 0
    suspend_reason: SuspendReason | None = None
    created_time: float = 0.0
    changed_time: float = 0.0
    elapsed_seconds: float = 0.0

    @property
    def text(self) -> str:
        """What is asked, with references spelled out."""
        return self.request.text if self.resolved_text is None else self.resolved_text

    @property
    def questions(self) -> tuple[Question, ...]:
        """What people are being asked, in plan order."""
        return tuple(s.question for s in self.steps.values() if s.question is not None)

    def tool_context(self, step_id: str, call_id: str) -> ToolContext:
        """What a tool call of a step may know."""
        return ToolContext(self.run_id, step_id, call_id, self.request.workspace, self.request.tools)

    def steps_in(self, *states: StepState) -> tuple[StepSnapshot, ...]:
        """The steps in one of these states, in plan order."""
        return tuple(s for s in self.steps.values() if s.state in states)
