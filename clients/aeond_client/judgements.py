"""Evaluations and questions of a run."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class TaskProfile:
    """The estimated difficulty of a task: `reasoning_depth` 1 to 5, `information_sufficiency` 0 to 1, the
    rest words.
    """

    reasoning_depth: int
    information_sufficiency: float
    expected_tool_usage: str
    output_breadth: str
    confidence_requirement: str
    raw_inference: str = ""


@dataclass(frozen=True, slots=True)
class Issue:
    """A problem with a step, or with the plan as a whole (`step_id` "")."""

    reason: str
    severity: str
    step_id: str
    message: str
    proposal: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person. The answer is JSON that satisfies `schema`, or one of `options` if there are
    any. `deadline_time` is Unix time in seconds (0: none); after it `default` is the answer (if `has_default`
    is false, the step fails).
    """

    question_id: str
    step_id: str
    prompt: str
    schema: dict[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    default: Any = None
    has_default: bool = False
    deadline_time: float = 0.0
