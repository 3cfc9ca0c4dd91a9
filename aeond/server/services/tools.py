"""Implementation of ToolService."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import assert_never

from aeond.api.v1 import tools_pb2 as pb
from aeond.domain.runs.run import Caller
from aeond.domain.tools import ToolResult
from aeond.errors import AeondError, InvalidInputError
from aeond.ports.serving import CallCancelled, CallStarted, OfferAccepted, ServedTools, ToClient
from aeond.server.calls import ToolCalls
from aeond.server.services.terminal_exchange import TerminalExchange
from aeond.server.streaming import Part
from aeond.server.wire import checks
from aeond.server.wire.pages import page_of, page_size, page_start
from aeond.server.wire.requests import TOOL_CALL, TOOL_RESULT, TOOL_SPEC
from aeond.server.wire.table import to_wire

SCOPE = "tools"
MAX_TOOLS = 256  # in one offer
MAX_CALL_ID_CHARS = 256


class ToolShim:
    def __init__(self, calls: ToolCalls) -> None:
        self._calls = calls

    async def list_tools(self, request: pb.ListToolsRequest, caller: Caller) -> pb.ListToolsResponse:
        size = page_size(request.page_size)
        found = await self._calls.list_tools(
            caller, after=page_start(request.page_token, SCOPE), limit=size + 1
        )
        shown, token = page_of(found, size, SCOPE, lambda spec: spec.name)
        return pb.ListToolsResponse(
            tools=[to_wire(spec, pb.ToolSpec) for spec in shown], next_page_token=token
        )

    async def get_tool(self, request: pb.GetToolRequest, caller: Caller) -> pb.GetToolResponse:
        spec = await self._calls.get(checks.word(request.name, "name", checks.MAX_NAME_CHARS), caller)
        return pb.GetToolResponse(tool=to_wire(spec, pb.ToolSpec))

    async def invoke_tool(self, request: pb.InvokeToolRequest, caller: Caller) -> pb.InvokeToolResponse:
        checks.required(request, "call")
        call = TOOL_CALL.read(request.call, "call")
        workspace = checks.folder_path(request.workspace, "workspace")
        result = await self._calls.invoke(call, workspace, caller)
        return pb.InvokeToolResponse(result=to_wire(result, pb.ToolResult))

    def serve_tools(self, caller: Caller) -> "ToolExchange":
        return ToolExchange(self._calls.serve(caller), caller.owner.pid)

    def attach_terminal(self, caller: Caller) -> TerminalExchange:
        return TerminalExchange(lambda run_id, kind: self._calls.attach(run_id, kind, caller))


class ToolExchange:
    """The Exchange of ServeTools."""

    def __init__(self, served: ServedTools, pid: int) -> None:
        self._served = served
        self._pid = pid
        self._failure: AeondError | None = None
        self._offered = False

    def receive(self, request: pb.ServeToolsRequest) -> None:
        match request.WhichOneof("message"):
            case "offer":
                self._offered = True
                checks.at_most(request.offer.tools, "offer.tools", MAX_TOOLS)
                source = checks.one_line(request.offer.source, "offer.source", checks.MAX_NAME_CHARS)
                specs = [
                    TOOL_SPEC.read(spec, f"offer.tools[{index}]")
                    for index, spec in enumerate(request.offer.tools)
                ]
                self._served.offer(source or process_name(self._pid), specs)
            case "ended" if self._offered:
                checks.required(request.ended, "result", "ended.result")
                call_id = checks.word(request.ended.call_id, "ended.call_id", MAX_CALL_ID_CHARS)
                self._served.end_call(call_id, _result(request.ended.result))
            case _:
                raise InvalidInputError(
                    "the first message must offer the tools, and each message must be set",
                    reason="OFFER_EXPECTED",
                    field="message",
                )

    def finish(self, failure: AeondError | None) -> None:
        self._failure = failure
        self._served.close()

    async def parts(self) -> AsyncIterator[Part]:
        while (message := await self._served.next()) is not None:
            yield Part(_to_client(message).SerializeToString())
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        self._served.close()


def _result(message: pb.ToolResult) -> ToolResult:
    """The result of a call. One that is out of form fails that call alone: the stream has other tools and calls."""
    try:
        return TOOL_RESULT.read(message, "result")
    except InvalidInputError as error:
        too_large = error.reason in {"TOO_LONG", "TOO_MANY"}
        return ToolResult(
            success=False,
            error=f"the tool's {error.message}",
            reason="OUTPUT_TOO_LARGE" if too_large else "OUTPUT_INVALID",
        )


def _to_client(message: ToClient) -> pb.ServeToolsResponse:
    match message:
        case OfferAccepted():
            return pb.ServeToolsResponse(accepted=to_wire(message, pb.ToolOfferAccepted))
        case CallStarted():
            return pb.ServeToolsResponse(started=to_wire(message, pb.ToolCallStarted))
        case CallCancelled():
            return pb.ServeToolsResponse(cancelled=to_wire(message, pb.ToolCallCancelled))
        case unknown:
            assert_never(unknown)


def process_name(pid: int) -> str:
    """The name of a process; "client" if it cannot be read."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        name = ""
    return "".join(letter for letter in name if letter.isprintable()) or "client"
