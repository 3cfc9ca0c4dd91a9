"""Implementation of ToolService."""

from aeond.api.v1 import tools_pb2 as pb
from aeond.domain.runs.run import Owner
from aeond.server.calls import ToolCalls
from aeond.server.wire import checks
from aeond.server.wire.pages import page_of, page_size, page_start
from aeond.server.wire.records.tools import tool_call_from_wire, tool_result_to_wire, tool_spec_to_wire

SCOPE = "tools"


class ToolShim:
    """Implements ToolService, except ServeTools."""

    def __init__(self, calls: ToolCalls) -> None:
        self._calls = calls

    async def list_tools(self, request: pb.ListToolsRequest, _caller: Owner) -> pb.ListToolsResponse:
        size = page_size(request.page_size)
        found = await self._calls.list_tools(after=page_start(request.page_token, SCOPE), limit=size + 1)
        shown, token = page_of(found, size, SCOPE, lambda spec: spec.name)
        return pb.ListToolsResponse(tools=[tool_spec_to_wire(spec) for spec in shown], next_page_token=token)

    async def get_tool(self, request: pb.GetToolRequest, _caller: Owner) -> pb.GetToolResponse:
        spec = await self._calls.get(checks.word(request.name, "name", checks.MAX_NAME_CHARS))
        return pb.GetToolResponse(tool=tool_spec_to_wire(spec))

    async def invoke_tool(self, request: pb.InvokeToolRequest, caller: Owner) -> pb.InvokeToolResponse:
        checks.required(request, "call")
        call = tool_call_from_wire(request.call, "call")
        workspace = checks.folder_path(request.workspace, "workspace")
        result = await self._calls.invoke(call, workspace, caller)
        return pb.InvokeToolResponse(result=tool_result_to_wire(result))
