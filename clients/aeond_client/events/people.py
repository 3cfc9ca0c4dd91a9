# Generated from protos/ by `make proto`; never edited.
"""Questions and approvals: the run asks a person, and the person answers."""

from dataclasses import dataclass, field
from typing import Any

from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import (
    Amounts,
)


@dataclass(frozen=True, slots=True)
class InputRequested:
    """The run asks a person."""

    question: Question
    """The question."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used by the step before it asked."""


@dataclass(frozen=True, slots=True)
class InputAnswered:
    """A person answered, or the default did."""

    question_id: str
    """The question."""
    answer: Any
    """The answer."""
    uid: int = -1
    """User id. -1: unknown."""


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call or plan waits for approval."""

    approval: ApprovalRequest
    """The approval. A repeat adds a step that waits for it as well."""
    step_id: str = ""
    """The step that waits from here on."""
    used: Amounts = field(default_factory=Amounts)
    """The amounts used by the step so far."""


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """An approval was given or denied."""

    approval_id: str
    """The approval."""
    approved: bool
    """Whether it was given."""
    uid: int = -1
    """User id. -1: unknown."""
    digest: str = ""
    """The digest that the person was shown."""
    scope: str = ""
    """What it covers, if it was given."""
    expired: bool = False
    """Whether it timed out."""
