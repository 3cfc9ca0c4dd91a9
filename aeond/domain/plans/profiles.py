"""Task profiles and routes."""

from enum import StrEnum
from typing import Final

from aeond.frozen import frozen


class ToolUsage(StrEnum):
    """Expected use of tools."""

    NONE = "none"
    MINIMAL = "minimal"
    MODERATE = "moderate"
    EXTENSIVE = "extensive"


class Breadth(StrEnum):
    """Expected breadth of the output."""

    NARROW = "narrow"
    MODERATE = "moderate"
    BROAD = "broad"


class ConfidenceLevel(StrEnum):
    """Required confidence of the answer."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@frozen
class TaskProfile:
    """The result of phase A. `reasoning_depth` is 1 to 5, `information_sufficiency` 0 to 1."""

    reasoning_depth: int = 3
    information_sufficiency: float = 0.5
    expected_tool_usage: ToolUsage = ToolUsage.MODERATE
    output_breadth: Breadth = Breadth.MODERATE
    confidence_requirement: ConfidenceLevel = ConfidenceLevel.MEDIUM
    raw_inference: str = ""  # the model's explanation, in its own words


DEFAULT_PROFILE: Final = TaskProfile()


class Route(StrEnum):
    """The first decision on a request."""

    DIRECT = "direct"  # one tool call, evaluated, and further ones as their results need
    REPLY = "reply"  # the model answers without tools
    PLAN = "plan"  # phases A to E
