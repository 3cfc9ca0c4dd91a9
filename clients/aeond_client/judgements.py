# Generated from protos/ by `make proto`; never edited.
"""Evaluations and questions of a run."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class TaskProfile:
    """The estimated difficulty of a task."""

    reasoning_depth: int
    """1 to 5. 0: not set."""
    information_sufficiency: float
    """The share of the needed information that the request contains, 0 to 1."""
    expected_tool_usage: str
    """Expected use of tools."""
    output_breadth: str
    """Expected breadth of the answer."""
    confidence_requirement: str
    """Required confidence of the answer."""
    raw_inference: str = ""
    """The model's own words."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A finding of an evaluation."""

    reason: str
    """A stable UPPER_SNAKE word."""
    severity: str
    """The severity."""
    step_id: str
    """The step. Empty: the plan or pass as a whole."""
    message: str
    """A description for people."""
    proposal: str = ""
    """A proposed correction, for people. Empty: none."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a run to a person."""

    question_id: str
    """Unique in the run."""
    step_id: str
    """The asking step."""
    prompt: str
    """The text of the question."""
    schema: dict[str, Any] = field(default_factory=dict)
    """JSON Schema that the answer must satisfy. Empty: any text."""
    options: tuple[str, ...] = ()
    """The possible answers. Empty: not a choice."""
    default: Any = None
    """The answer after the deadline. Empty: the step fails then."""
    has_default: bool = False
    deadline_time: float = 0.0
    """The deadline. Not set: none."""
