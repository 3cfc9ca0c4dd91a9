# Generated from protos/ by `make proto`; never edited.
"""Events of single steps, with the calls and child runs that they start."""

from dataclasses import dataclass, field
from typing import Any

from aeond_client.records.runs import (
    Amounts,
    Budget,
    ModelUse,
    PlanStep,
    Problem,
    RunState,
    StepState,
)
from aeond_client.records.tools import RecordedEffect


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
class StepResolved:
    """A person decided."""

    resolution: str
    """The decision."""
    step_id: str = ""
    """The step. Empty: the decision is about a run suspended after crashes."""
    uid: int = -1
    """User id. -1: unknown."""


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
