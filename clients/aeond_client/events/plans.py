# Generated from protos/ by `make proto`; never edited.
"""Events of planning: the analysis of the request, the plan, and the passes that execute and refine it."""

from dataclasses import dataclass, field

from aeond_client.records.judgements import Issue, TaskProfile
from aeond_client.records.runs import (
    Amounts,
    ModelUse,
    Plan,
    PlanStep,
    Problem,
)


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
class PlanningStarted:
    """A plan is being made."""

    reservation: Amounts = field(default_factory=Amounts)
    """The amounts reserved for it."""


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
class PassEnded:
    """A pass has ended."""

    pass_index: int
    """The pass."""


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
