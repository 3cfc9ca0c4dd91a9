"""One connection to an MCP server: its tools, calls and completions, by the official SDK."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, Self

import anyio
import mcp_types as types
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from aeond import __version__
from aeond.capabilities.mcp.calls import cut
from aeond.capabilities.mcp.foreign_text import clean
from aeond.capabilities.mcp.tool import McpTool
from aeond.capabilities.mcp.wire import OBEY_SECONDS, Wire
from aeond.domain.values import JsonObject
from aeond.errors import ToolError

START_SECONDS: Final = 30.0
REQUEST_SECONDS: Final = 10.0
COMPLETION_SECONDS: Final = 2.0
MAX_TOOLS: Final = 128
MAX_PAGES: Final = 16
MAX_VALUES: Final = 20
MAX_VALUE_CHARS: Final = 200
_CLOSED: Final = "Connection closed"
"""The SDK's message for the requests of a closed connection."""
_STREAM_ENDED: Final = "SSE stream "
"""How the SDK's messages begin for a response whose stream ended before it."""

Elicit = Callable[[types.ElicitRequestFormParams], Awaitable[types.ElicitResult]]
Reference = types.PromptReference | types.ResourceTemplateReference


class Connection:
    """Speaks to a server; used as a context, in which it is initialised."""

    def __init__(self, wire: Wire, elicit: Elicit) -> None:
        self.wire = wire
        self.changed = anyio.Event()
        self._elicit = elicit
        self._references: dict[str, Reference] = {}
        self._session = ClientSession(
            *wire.streams,
            client_info=types.Implementation(name="aeond", version=__version__),
            elicitation_callback=self._asked,
            message_handler=self._heard,
        )

    async def __aenter__(self) -> Self:
        await self._session.__aenter__()
        opened = False
        try:
            with anyio.fail_after(START_SECONDS):
                await self._session.initialize()
                await self._find_completions()
            opened = True
        finally:
            if not opened:
                await self._session.__aexit__(None, None, None)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.__aexit__(None, None, None)

    async def list_tools(self) -> Sequence[types.Tool]:
        """The first MAX_TOOLS tools."""
        self.changed = anyio.Event()
        found: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            request = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
            page = await self._session.send_request(request, types.ListToolsResult, REQUEST_SECONDS)
            found += page.tools
            cursor = page.next_cursor
            if not cursor or len(found) >= MAX_TOOLS:
                break
        return found[:MAX_TOOLS]

    async def call(
        self, tool: McpTool, arguments: JsonObject, on_progress: ProgressFnT
    ) -> types.CallToolResult:
        """The result of a call. Cancelling it tells the server to stop. ToolError: MCP_ERROR if the server rejects it or
        its result has no valid form, CALL_CUT if its response can no longer arrive."""
        params = types.CallToolRequestParams(name=tool.name, arguments=dict(arguments))
        try:
            return await self._session.send_request(
                types.CallToolRequest(params=params), types.CallToolResult, progress_callback=on_progress
            )
        except MCPError as error:
            raise await self._failure(tool, error) from error
        except ValidationError as error:
            raise ToolError("the server's result has no valid form", reason="MCP_ERROR") from error

    async def _failure(self, tool: McpTool, error: MCPError) -> ToolError:
        """The SDK reports a lost response with the code that JSON-RPC gives to any error of a server: only its words
        distinguish them, and a server can use these, too."""
        said = clean(error.message, 500)
        if error.code == types.CONNECTION_CLOSED and error.message.startswith(_STREAM_ENDED):
            return cut(tool.spec.name, said)
        if closed(error) and not await self.responds():
            self.wire.fail("")
            return cut(tool.spec.name, clean(await self.wire.why(), 300))
        if "Session terminated" in error.message:  # the SDK's word for a server that has lost the session
            self.wire.fail("the server has ended the session")
        return ToolError(f"the server rejected the call: {said}", reason="MCP_ERROR")

    async def responds(self) -> bool:
        """Whether the server answers a ping in time."""
        with suppress(MCPError, ValidationError):
            request = types.PingRequest(params=types.RequestParams())
            await self._session.send_request(request, types.EmptyResult, OBEY_SECONDS)
            return True
        return False

    async def completed(self, argument: str, near: str) -> Sequence[str]:
        """Existing values for an argument, as the server completes it; () if it completes none of this name.

        MCP completes the arguments of prompts and resource templates: an argument of a tool with the same name is taken
        for the same thing.
        """
        reference = self._references.get(argument)
        if reference is None:
            return ()
        with suppress(MCPError, ValidationError), anyio.move_on_after(COMPLETION_SECONDS):
            for typed in (near, ""):
                given = {"name": argument, "value": typed}
                values = (await self._session.complete(reference, given)).completion.values
                if values:
                    return [clean(value, MAX_VALUE_CHARS) for value in values[:MAX_VALUES]]
        return ()

    async def _find_completions(self) -> None:
        offered = self._session.server_capabilities
        if offered is None or offered.completions is None:
            return
        with suppress(MCPError, ValidationError):
            if offered.resources is not None:
                templates = (await self._session.list_resource_templates()).resource_templates
                for template in templates[:MAX_TOOLS]:
                    reference = types.ResourceTemplateReference(uri=template.uri_template)
                    for name in _variables(template.uri_template):
                        self._references.setdefault(name, reference)
            if offered.prompts is not None:
                for prompt in (await self._session.list_prompts()).prompts[:MAX_TOOLS]:
                    for one in prompt.arguments or ():
                        self._references.setdefault(one.name, types.PromptReference(name=prompt.name))

    async def _asked(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        if not isinstance(params, types.ElicitRequestFormParams):
            return types.ElicitResult(action="decline")
        return await self._elicit(params)

    async def _heard(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.changed.set()


def closed(error: BaseException) -> bool:
    """Whether the error has the form of the SDK's for a closed connection."""
    return isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED and error.message == _CLOSED


def _variables(template: str) -> Sequence[str]:
    return [part.partition("}")[0].lstrip("+#./;?&") for part in template.split("{")[1:]]
