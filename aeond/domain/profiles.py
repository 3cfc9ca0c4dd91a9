"""How hard a task looks, and which way a request takes."""

from enum import StrEnum
from typing import Final

from aeond.frozen import frozen


class ToolUsage(StrEnum):
    """How much a task is expected to use tools."""

    NONE = "none"
    MINIMAL = "minimal"
    MODERATE = "moderate"
    EXTENSIVE = "extensive"


class Breadth(StrEnum):
    """How much ground the output covers."""

    NARROW = "narrow"
    MODERATE = "moderate"
    BROAD = "broad"


class ConfidenceLevel(StrEnum):
    """How sure the answer has to be."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@frozen
class TaskProfile:
    """Phase A's inference. `reasoning_depth` is 1 to 5, `information_sufficiency` 0 to 1."""

    reasoning_depth: int = 3
    information_sufficiency: float = 0.5
    expected_tool_usage: ToolUsage = ToolUsage.MODERATE
    output_breadth: Breadth = Breadth.MODERATE
    confidence_requirement: ConfidenceLevel = ConfidenceLevel.MEDIUM
    raw_inference: str = ""  # what the model said about it, in its words


DEFAULT_PROFILE: Final = TaskProfile()


class Route(StrEnum):
    """The first decision on a request."""

    DIRECT = "direct"  # one tool call, judged, and perhaps another
    REPLY = "reply"  # the model answers, without tools
    PLAN = "plan"  # phases A to E
