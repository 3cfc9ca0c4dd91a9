"""A tool call as data."""

from dataclasses import field

from aeond.domain.values import NO_ARGUMENTS, JsonObject
from aeond.frozen import frozen


@frozen
class ToolCall:
    """A tool call: name, arguments, and an id that identifies the call."""

    tool: str
    arguments: JsonObject = field(default_factory=lambda: NO_ARGUMENTS)
    call_id: str = ""
