"""Implementation of ToolService."""

from aeond.api.v1 import tools_pb2 as pb
from aeond.domain.runs.run import Caller
from aeond.server.calls import ToolCalls
from aeond.server.wire import checks
from aeond.server.wire.pages import page_of, page_size, page_start
from aeond.server.wire.requests import TOOL_CALL
from aeond.server.wire.table import to_wire

SCOPE = "tools"


class ToolShim:
    """Implements ToolService, except ServeTools."""

    def __init__(self, calls: ToolCalls) -> None:
        self._calls = calls

    async def list_tools(self, request: pb.ListToolsRequest, _caller: Caller) -> pb.ListToolsResponse:
        size = page_size(request.page_size)
        found = await self._calls.list_tools(after=page_start(request.page_token, SCOPE), limit=size + 1)
        shown, token = page_of(found, size, SCOPE, lambda spec: spec.name)
        return pb.ListToolsResponse(
            tools=[to_wire(spec, pb.ToolSpec) for spec in shown], next_page_token=token
        )

    async def get_tool(self, request: pb.GetToolRequest, _caller: Caller) -> pb.GetToolResponse:
        spec = await self._calls.get(checks.word(request.name, "name", checks.MAX_NAME_CHARS))
        return pb.GetToolResponse(tool=to_wire(spec, pb.ToolSpec))

    async def invoke_tool(self, request: pb.InvokeToolRequest, caller: Caller) -> pb.InvokeToolResponse:
        checks.required(request, "call")
        call = TOOL_CALL.read(request.call, "call")
        workspace = checks.folder_path(request.workspace, "workspace")
        result = await self._calls.invoke(call, workspace, caller.owner)
        return pb.InvokeToolResponse(result=to_wire(result, pb.ToolResult))
