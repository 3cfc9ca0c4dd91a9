"""The MCP server: tools and resources over the daemon."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import quote, unquote

import anyio
import anyio.lowlevel
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from aeond.facades.mcp import arguments, consent, results, tasks
from aeond.facades.mcp.following import Context, Result, follow, resumed_run, settled
from aeond.facades.runs import CREATE_SECONDS, cancel, uncancelled
from aeond_client import AsyncClient
from aeond_client.calls.run_calls import RunOptions
from aeond_client.errors import AeondError, InvalidInputError, NotFoundError, TimedOutError
from aeond_client.records.runs import Run

MAX_FACTS: Final = 1_000
CANCELLED: Final = "cancelled by the MCP client"
SCHEME: Final = "aeond-memory:///"
INSTRUCTIONS: Final = (
    "aeond carries out requests in plain words on this machine, with tools and a local model, under a policy. `ask`"
    " sends one. Effects that the policy asks about need a person's approval, which no tool can give."
)


def mcp_server(socket: str) -> Server[Any]:
    """The server over the daemon at `socket` ("": the usual ones), which each request finds again."""
    handlers = _Handlers(socket)
    server: Server[Any] = Server(
        "aeond",
        version=version("aeond"),
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )
    server.add_request_handler("tools/call", types.CallToolRequestParams, handlers.call_tool)
    server.extensions[tasks.EXTENSION] = {}
    server.add_request_handler("tasks/get", tasks.TaskParams, handlers.get_task)
    server.add_request_handler("tasks/update", tasks.UpdateParams, handlers.update_task)
    server.add_request_handler("tasks/cancel", tasks.TaskParams, handlers.cancel_task)
    return server


async def serve_stdio(socket: str) -> None:
    """Serves the program that started this one, until standard input ends."""
    server = mcp_server(socket)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def refusal(status: int, reason: str, message: str) -> bytes:
    """The body for a request that the listener refuses, as JSON-RPC has it."""
    error = {"code": -32000 - status % 100, "message": message, "data": {"reason": reason.upper()}}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()


class _Handlers:
    def __init__(self, socket: str) -> None:
        self._socket = socket

    # ------------------------------------------------------------ tools

    async def list_tools(self, _context: Context, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=arguments.listed())

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> Result:
        if params.name not in arguments.TOOLS:
            message = f"There is no tool {params.name!r}."
            raise MCPError(types.INVALID_PARAMS, message, {"reason": "TOOL_NOT_FOUND"})
        try:
            given = arguments.TOOLS[params.name][0].model_validate(params.arguments or {})
            async with AsyncClient(self._socket) as client:
                if params.request_state is not None:
                    return await self._resume(client, context, params)
                return await self._carry_out(client, context, given, params.name)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            return results.of_error(
                InvalidInputError(f"{where}: {first['msg']}", reason="INVALID_ARGUMENTS", field=where)
            )
        except AeondError as error:
            return results.of_error(error)

    async def _carry_out(
        self, client: AsyncClient, context: Context, given: arguments.Arguments, name: str
    ) -> Result:
        match given:
            case arguments.Ask():
                options = RunOptions(workspace=given.workspace, session_id=given.session_id)
                run = await _created(client, given.request, options)
                if given.wait and tasks.are_known(context):
                    return tasks.created(run)
                return await _followed(client, run.run_id, context) if given.wait else results.of_run(run)
            case arguments.Runs(limit=limit):
                found = await client.list_runs(limit=limit)
                lines = [
                    {"run_id": one.run_id, "state": str(one.state), "request": one.text} for one in found
                ]
                text = types.TextContent(text=json.dumps(lines, ensure_ascii=False))
                return types.CallToolResult(content=[text], structured_content={"runs": lines})
            case arguments.Answer():
                run = await client.answer_run(given.run_id, given.answer, given.question_id)
                return results.of_run(run)
            case arguments.OneRun(run_id=run_id):
                match name:
                    case "wait":
                        if tasks.are_known(context):
                            return tasks.created(await client.get_run(run_id))
                        return await follow(client, run_id, context)
                    case "cancel":
                        return results.of_run(await client.cancel_run(run_id, "cancelled by an MCP client"))
                    case "undo":
                        return results.of_undo(await client.undo_run(run_id))
                    case _:
                        return results.of_run(await client.get_run(run_id))
            case _:
                raise AssertionError(f"{name} has no handler")

    async def _resume(
        self, client: AsyncClient, context: Context, params: types.CallToolRequestParams
    ) -> Result:
        """A repeated call with the answer of a person."""
        given = (params.input_responses or {}).get(consent.KEY)
        try:
            run_id, asked = resumed_run(params.request_state or "")
            result = given if isinstance(given, types.ElicitResult) else types.ElicitResult(action="cancel")
            ends = await settled(client, run_id, asked, result)
        except (ValueError, KeyError) as error:
            message = "requestState is not one of this server's."
            raise MCPError(types.INVALID_PARAMS, message, {"reason": "INVALID_REQUEST_STATE"}) from error
        if ends is not None:
            return ends
        if params.name == "ask":
            return await _followed(client, run_id, context)
        return await follow(client, run_id, context)

    # ------------------------------------------------------------ tasks

    async def get_task(self, context: Context, params: tasks.TaskParams) -> dict[str, Any]:
        return await self._on_task(context, lambda client: tasks.detailed(client, params.task_id))

    async def update_task(self, context: Context, params: tasks.UpdateParams) -> dict[str, Any]:
        responses = params.input_responses
        return await self._on_task(context, lambda client: tasks.update(client, params.task_id, responses))

    async def cancel_task(self, context: Context, params: tasks.TaskParams) -> dict[str, Any]:
        return await self._on_task(context, lambda client: tasks.cancel(client, params.task_id))

    async def _on_task(
        self, context: Context, operation: Callable[[AsyncClient], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any]:
        if not tasks.are_known(context):
            message = f"Tasks need the extension {tasks.EXTENSION}."
            raise MCPError(types.METHOD_NOT_FOUND, message, {"reason": "EXTENSION_NOT_DECLARED"})
        async with self._daemon() as client:
            return await operation(client)

    @asynccontextmanager
    async def _daemon(self) -> AsyncGenerator[AsyncClient, None]:
        """A client, whose errors become errors of the protocol."""
        try:
            async with AsyncClient(self._socket) as client:
                yield client
        except AeondError as error:
            code = types.INVALID_PARAMS if isinstance(error, NotFoundError) else types.INTERNAL_ERROR
            raise MCPError(code, error.message, {"reason": error.reason}) from error

    # ------------------------------------------------------------ resources

    async def list_resources(self, _context: Context, _params: Any) -> types.ListResourcesResult:
        """The facts of the memory, at most MAX_FACTS, sorted by key."""
        async with self._daemon() as client:
            facts = await client.search_facts(limit=MAX_FACTS)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=f"{SCHEME}{quote(fact.key, safe='')}", name=fact.key, mime_type="application/json"
                )
                for fact in facts
            ]
        )

    async def list_templates(self, _context: Context, _params: Any) -> types.ListResourceTemplatesResult:
        """Every fact can be read by its key, also those that the list leaves out."""
        template = types.ResourceTemplate(
            uri_template=f"{SCHEME}{{key}}",
            name="fact",
            description="A fact of the long-term memory, by its key.",
            mime_type="application/json",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, _context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        if not uri.startswith(SCHEME):
            message = f"{uri} is not a fact of the memory."
            raise MCPError(types.INVALID_PARAMS, message, {"reason": "KEY_NOT_FOUND"})
        async with self._daemon() as client:
            fact = await client.read_fact(unquote(uri.removeprefix(SCHEME)))
        shown = {"value": fact.value, "run_id": fact.run_id, "untrusted_sources": list(fact.taint)}
        text = json.dumps(shown, ensure_ascii=False)
        content = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[content])


async def _created(client: AsyncClient, request: str, options: RunOptions) -> Run:
    """A new run. If the call is cancelled meanwhile, so is the run, as soon as its id is here: no one else has it.
    TimedOutError if the daemon does not confirm the run within CREATE_SECONDS."""
    run = None
    with suppress(TimeoutError):
        async with uncancelled(CREATE_SECONDS):
            run = await client.create_run(request, options)
    try:
        await anyio.lowlevel.checkpoint_if_cancelled()
    except anyio.get_cancelled_exc_class():
        if run is not None:
            await cancel(client, run.run_id, CANCELLED)
        raise
    if run is None:
        raise TimedOutError(
            f"The daemon did not confirm the run within {CREATE_SECONDS:g} s, and may still create it: look for it with `runs` before"
            " you ask again."
        )
    return run


async def _followed(client: AsyncClient, run_id: str, context: Context) -> Result:
    """As `follow`; a cancelled call cancels its run."""
    try:
        return await follow(client, run_id, context)
    except anyio.get_cancelled_exc_class():
        await cancel(client, run_id, CANCELLED)
        raise
