# Generated from protos/ by `make proto`; never edited.
"""The policy as a client sees it: its rules, and decisions about calls."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """A decision with its grounds."""

    verdict: str
    """The decision."""
    rule: str = ""
    """The rule that decided. Empty: none matched."""
    reason: str = ""
    """The reason, for people."""
    version: str = ""
    """The version of the policy."""


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """A rule of a policy."""

    name: str
    """Unique in the policy."""
    verdict: str
    """The decision about the calls that it matches."""
    conditions: dict[str, Any] = field(default_factory=dict)
    """The conditions, a JSON object. All must hold; an empty object matches every call."""
    reason: str = ""
    """The reason, for people."""


@dataclass(frozen=True, slots=True)
class PolicyInForce:
    """The policy in force."""

    version: str
    """Identifies the rules: it changes whenever a decision could."""
    profile: str
    """The shipped profile that it is based on."""
    file: str = ""
    """The file with further rules. Empty: none."""
    rules: tuple[PolicyRule, ...] = ()
    """All rules, those that cannot be changed first."""


@dataclass(frozen=True, slots=True)
class HypotheticalDecision:
    """The decision about the call as a step of a run, if a model wrote it."""

    decision: PolicyDecision
    """The decision."""
    effect: str = ""
    """The effect class of the call."""
    facts: dict[str, Any] = field(default_factory=dict)
    """The facts on which the decision is based, a JSON object."""


@dataclass(frozen=True, slots=True)
class ReplayedDecision:
    """A past call with both decisions."""

    step_id: str
    """The step."""
    tool: str = ""
    """The tool's name; never empty."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The arguments object. Empty: no arguments."""
    recorded: PolicyDecision | None = None
    """The decision in the journal. Not set: an earlier version recorded none."""
    decided: PolicyDecision | None = None
    """The decision now."""
    facts_recorded: bool = False
    """Whether the facts were recorded. Otherwise they are derived from the call alone."""


@dataclass(frozen=True, slots=True)
class PolicyReplay:
    """The calls of the run in the order of the journal."""

    decisions: tuple[ReplayedDecision, ...] = ()
    """At most 1,000."""
    version: str = ""
    """The version of the policy that decided."""
