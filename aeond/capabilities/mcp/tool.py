"""A tool of an MCP server as one of ours."""

from typing import Protocol

from aeond.domain.tools import ToolCode, ToolContext, ToolOutput, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.frozen import frozen
from aeond.ports import Tool, ToolAnswer


class Registering(Protocol):
    """Where the tools are registered."""

    def register(self, tool: Tool) -> None:
        """As ToolRegistry does."""

    def remove(self, name: str) -> None:
        """Forgets a tool that was registered here; calls in progress continue."""


class Calls(Protocol):
    """Where calls are carried out."""

    async def call(self, tool: "McpTool", arguments: JsonObject, context: ToolContext) -> ToolAnswer: ...

    def holds(self, tool: "McpTool", arguments: JsonObject, context: ToolContext) -> bool: ...


@frozen
class McpTool:
    """`name` is the server's own name of the tool, `tool_code` identifies the server as it is configured."""

    spec: ToolSpec
    name: str
    server: Calls
    tool_code: ToolCode

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        """The server's result, or its question. Raises ToolError: CALL_CUT if the server or its response is lost,
        MCP_SERVER_DOWN if it does not run, MCP_TOOL_FAILED or MCP_ERROR as the server reports."""
        return await self.server.call(self, arguments, context)

    def holds(self, arguments: JsonObject, context: ToolContext) -> bool:
        """See aeond.ports.policy.HoldsCalls."""
        return self.server.holds(self, arguments, context)

    async def reconcile(
        self, arguments: JsonObject, context: ToolContext
    ) -> JsonValue | ToolOutput[JsonValue] | None:
        return None  # the protocol has no way to ask for an earlier call
