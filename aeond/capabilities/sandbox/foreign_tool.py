"""Tools of other authors: what they declare about themselves is believed only as far as it makes them more dangerous."""

from dataclasses import replace
from typing import Final

from aeond.domain.policy import Effect, worse
from aeond.domain.tools import ToolCode, ToolContext, ToolOutput, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.ports import Tool, ToolAnswer
from aeond.ports.policy import StatesCode

SOURCE: Final = "tools.folders"


class ForeignTool:
    """A Tool of another author. `least` is the effect class of everything that its surroundings let it do."""

    def __init__(self, tool: Tool, least: Effect) -> None:
        self._tool = tool
        self._spec = replace(
            tool.spec,
            effect=worse(tool.spec.effect, least),
            source=SOURCE,
            candidates=(),
            asks_user=False,
            private=False,
            followed_by="",
            source_code=(),
            request_argument="",
        )

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    @property
    def tool_code(self) -> ToolCode:
        return self._tool.tool_code if isinstance(self._tool, StatesCode) else ToolCode()

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        return await self._tool.execute(arguments, context)

    async def reconcile(
        self, arguments: JsonObject, context: ToolContext
    ) -> JsonValue | ToolOutput[JsonValue] | None:
        return await self._tool.reconcile(arguments, context)
