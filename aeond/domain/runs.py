"""Runs: one bounded execution of one request, and all that is known of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aeond.domain.budgets import Amounts, BudgetLedger
from aeond.domain.outcome import Problem
from aeond.domain.plans import Plan, StepState
from aeond.domain.steps import Steps, StepSnapshot

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

    PROFILE = "profile"  # A
    PLAN = "plan"  # B
    EXECUTE = "execute"  # C
    ADAPT = "adapt"  # D
    ANSWER = "answer"  # E


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


@dataclass(frozen=True, slots=True)
class Owner:
    """Who asked, as the kernel of Linux tells it; -1 where it could not be told."""

    uid: int = -1
    pid: int = -1


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a client asks for.

    `request_id` makes creation idempotent ("" for none). `workspace` is the absolute path of the folder
    that the run's file tools are contained in ("" for one of the daemon's own).
    """

    text: str
    request_id: str = ""
    session_id: str = ""
    workspace: str = ""
    parallel_steps: int = 4
    owner: Owner = field(default_factory=Owner)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """All that is known of a run, folded from its events.

    `seq` is that of the last event folded (0: none). `operation` is the reservation of a planning or an
    answering in flight. `elapsed_seconds` is time spent working over all incarnations of the daemon.
    """

    run_id: str
    seq: int = 0
    state: RunState = RunState.PENDING
    phase: Phase | None = None
    request: RunRequest = field(default_factory=lambda: RunRequest(text=""))
    ledger: BudgetLedger = field(default_factory=BudgetLedger)
    plan: Plan | None = None
    plan_source: PlanSource | None = None
    steps: Steps = field(default_factory=dict)
    pass_index: int = 0
    pass_open: bool = False
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

    def steps_in(self, *states: StepState) -> tuple[StepSnapshot, ...]:
        """The steps in one of these states, in plan order."""
        return tuple(s for s in self.steps.values() if s.state in states)
