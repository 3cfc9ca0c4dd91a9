"""Tools of other trades, registered beside the product's own: does a model still do its work where two hundred are?"""

from collections.abc import Sequence

from aeond.domain.tools import ToolContext, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import ToolError
from aeond.ports import Tool
from tests.eval.tool_choice import TOOLS

MOST = len(TOOLS)
_TEXT: JsonObject = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 1_000, "description": "What to do, in words"}},
    "required": ["text"],
    "additionalProperties": False,
}


class ExtraTool:
    """A tool that is described as a real one is, and has nothing to work with."""

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = ToolSpec(spec.name, spec.description, _TEXT, {"type": "string"}, spec.effect)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        raise ToolError(f"nothing is connected to {self.spec.name} here", reason="NOT_CONNECTED")

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        return None


def extra_tools(count: int) -> Sequence[Tool]:
    """The first of the tools of tool_choice.toml."""
    return [ExtraTool(spec) for spec in TOOLS[:count]]
