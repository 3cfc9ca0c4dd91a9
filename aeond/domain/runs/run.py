"""Runs: one bounded execution of one request, and its complete state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from aeond.domain.outcome import Problem
from aeond.domain.plans.approvals import ApprovalGrant, ApprovalRequest
from aeond.domain.plans.evaluations import Evaluation
from aeond.domain.plans.plan import Plan, StepState
from aeond.domain.plans.profiles import Route, TaskProfile
from aeond.domain.plans.steps import Steps, StepSnapshot
from aeond.domain.policy import Origin
from aeond.domain.runs.budgets import Amounts, Budget, BudgetLedger
from aeond.domain.runs.questions import Question
from aeond.domain.tools import RecordedEffect, ToolContext, Workspace
from aeond.frozen import frozen
from aeond.user_rights import UserRights

MAX_REQUEST_CHARS = 100_000


class RunState(StrEnum):
    """The lifecycle state of a run."""

    PENDING = "pending"
    RUNNING = "running"
    AWAITING_INPUT = "awaiting_input"
    SUSPENDED = "suspended"  # waits for a person, or for free disk space
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"  # a budget is exhausted; there is still an answer

    @property
    def ended(self) -> bool:
        return self in (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.EXPIRED)


class Phase(StrEnum):
    """The phase of a running run."""

    PROFILE = "profile"  # A: references, route, profile
    PLAN = "plan"  # B: draft, evaluate, refine
    EXECUTE = "execute"  # C: a pass
    ADAPT = "adapt"  # C and D: between passes: evaluate, refine, adapt the depth
    ANSWER = "answer"  # E


class Operation(StrEnum):
    """An operation that the phases perform for the run as a whole, one at a time."""

    RESOLVE = "resolve"  # session context and reference resolution
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
    UNKNOWN_STEP = "unknown_step"  # a crash interrupted a step with side effects
    REPEATED_CRASHES = "repeated_crashes"  # active during three crashes: not resumed automatically
    DISK_FULL = "disk_full"
    WORKSPACE_CHANGED = "workspace_changed"  # its path leads to another folder than the bound one
    APPROVAL = "approval"  # no person is available to approve its calls


CONTINUED_BY_PERSON: Final = (SuspendReason.REPEATED_CRASHES, SuspendReason.WORKSPACE_CHANGED)


class Resolution(StrEnum):
    """A person's decision about an UNKNOWN step, or about a run suspended after crashes or because its workspace changed."""

    RETRY = "retry"
    DONE = "done"
    ABORT = "abort"


@frozen
class Owner:
    """The requesting process as reported by the Linux kernel; -1 if unknown.

    In the request of a run, `rights` are those with which its workspace is used (None: the daemon's).
    """

    uid: int = -1
    pid: int = -1
    rights: UserRights | None = None


@frozen
class Caller:
    """The user of an API call. What the call creates belongs to `owner`; an administrator sees what belongs to others.
    `trace_parent` is the W3C trace context of the call ("" for none)."""

    owner: Owner
    is_admin: bool = False
    trace_parent: str = ""

    @property
    def sees_only(self) -> int | None:
        """The one user whose things the caller sees; None for an administrator, who sees those of all."""
        return None if self.is_admin else self.owner.uid

    def sees(self, uid: int) -> bool:
        """Whether the caller sees what belongs to this user; only an administrator sees that of an unknown user (-1)."""
        return self.is_admin or uid == self.owner.uid != -1


@frozen
class RunRequest:
    """A client's request.

    `request_id` makes creation idempotent ("" for none). `workspace` is the absolute path of the folder that
    confines the run's file tools ("" for a private folder of the daemon's), `workspace_identity` says which folder that
    is ("" in runs of older versions). `tools` are patterns of the only
    tools allowed (None for all); `tool_profile` is the profile that they come from ("" for none). `instructions` is the
    system prompt of a child run, whose Template sets its tools too. An
    `unattended` run that needs an approval is suspended at once, even if it is watched. `trace_parent` is the W3C trace
    context of the request ("" for none).
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
    model: str = ""  # name in the catalogue; "" for the model chosen when a step runs
    workspace_identity: str = ""
    unattended: bool = False
    tool_profile: str = ""
    trace_parent: str = ""


@frozen
class Ancestry:
    """The origin of a run. `lineage` lists, outermost first, the reason for starting each ancestor and the
    run itself (template and digest of the inputs). It is empty for a run requested by a client.
    """

    parent_run_id: str = ""
    parent_step_id: str = ""
    lineage: tuple[str, ...] = ()
    forked_run_id: str = ""

    @property
    def depth(self) -> int:
        return len(self.lineage)


@frozen
class Answer:
    """The result of a run: text, supporting steps, confidence, and missing parts.

    `synthesized` is true if a model wrote the text; otherwise the text is the steps' own output. `effects` are
    the changes made by the run and its child runs, in order, at most MAX_ANSWER_EFFECTS; the kernel copies them
    from the journal when it records the answer.
    """

    text: str
    step_ids: tuple[str, ...] = ()
    confidence: float = 1.0
    notes: tuple[str, ...] = ()
    budget_exhausted: bool = False
    synthesized: bool = False
    effects: tuple[RecordedEffect, ...] = ()


@dataclass(frozen=True)  # without slots, for copying.replace
class RunSnapshot:
    """The complete state of a run, folded from its events.

    `seq` is the number of the last event folded (0: none). `operation` is the reservation of an Operation in
    flight. `elapsed_seconds` is working time, summed over all daemon processes. `bound` is the maximum to
    which the budget may be adjusted. `resolved_text` is the request with its references resolved (None: not
    yet), `context` the session part of prompts, and `standing` the user's latest statements in the session. `shown` names
    the tools chosen for the run (empty: all are shown).
    `evaluation` is of the current plan or pass. `refinements` counts the refinements of each fragment,
    `refinement_count` all of them. `effects` are the changes made by its steps and child runs, in the order of
    the journal, `grants` the approvals given so far. `taint` names the untrusted sources that the run has read; it
    never shrinks. `asking_tools` names the tools for whose calls more of the budget is reserved.
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
    shown: tuple[str, ...] = ()
    profile: TaskProfile | None = None
    plan: Plan | None = None
    plan_source: PlanSource | None = None
    steps: Steps = field(default_factory=dict)
    pass_index: int = 0
    pass_open: bool = False
    evaluation: Evaluation | None = None
    refinements: Mapping[str, int] = field(default_factory=dict)
    refinement_count: int = 0
    effects: tuple[RecordedEffect, ...] = ()
    grants: tuple[ApprovalGrant, ...] = ()
    taint: tuple[str, ...] = ()
    asking_tools: tuple[str, ...] = ()
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
        """The request with references resolved."""
        return self.request.text if self.resolved_text is None else self.resolved_text

    @property
    def questions(self) -> tuple[Question, ...]:
        """The open questions to people, in plan order."""
        return tuple(s.question for s in self.steps.values() if s.question is not None)

    @property
    def approvals(self) -> tuple[ApprovalRequest, ...]:
        """The approvals that steps wait for, in plan order."""
        waiting = (s.approval for s in self.steps.values() if s.approval is not None)
        return tuple({approval.approval_id: approval for approval in waiting}.values())

    @property
    def asks_person(self) -> bool:
        """Whether a question or an approval is open."""
        return any(s.question is not None or s.approval is not None for s in self.steps.values())

    @property
    def startable(self) -> tuple[StepSnapshot, ...]:
        """The steps that may start now, in plan order: READY, and not waiting for approval."""
        return tuple(s for s in self.steps_in(StepState.READY) if s.approval is None)

    @property
    def running(self) -> tuple[StepSnapshot, ...]:
        """The steps in flight, in plan order; a step that waits for a person is not."""
        return tuple(s for s in self.steps_in(StepState.RUNNING) if s.question is None)

    @property
    def in_flight(self) -> bool:
        """Whether an operation or a step is in flight."""
        return self.operation is not None or bool(self.running)

    def tool_context(self, step_id: str, call_id: str) -> ToolContext:
        """The context given to a tool call of a step."""
        step = self.steps.get(step_id)
        return ToolContext(
            self.run_id,
            step_id,
            call_id,
            self.workspace,
            self.request.tools,
            self.request.owner.uid,
            Origin.CLIENT if self.plan_source is PlanSource.CLIENT else Origin.MODEL,
            self.taint,
            None if step is None else step.output,
            repeated=step is None or step.attempt > 1,
        )

    @property
    def workspace(self) -> Workspace:
        """The workspace that the run is bound to."""
        return Workspace(self.request.workspace, self.request.workspace_identity, self.request.owner.rights)

    def steps_in(self, *states: StepState) -> tuple[StepSnapshot, ...]:
        """The steps in one of these states, in plan order."""
        return tuple(s for s in self.steps.values() if s.state in states)
