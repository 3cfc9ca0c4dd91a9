import json
import os
from collections.abc import Sequence

import grpc
import pytest

from aeond.api.v1 import tools_pb2
from aeond.domain.tools import ToolResult, ToolSpec
from aeond.ports.serving import ToClient
from aeond.server.services.tools import ToolExchange
from tests.support.api_world import ApiWorld, Stubs, refused

INVALID = grpc.StatusCode.INVALID_ARGUMENT


async def test_tools_are_listed_page_by_page(world: ApiWorld, client: Stubs) -> None:
    """Every tool is in exactly one page, sorted by name."""
    world.behind.tools.names = ("c", "a", "b")
    first = await client.tools.ListTools(tools_pb2.ListToolsRequest(page_size=2))
    last = await client.tools.ListTools(
        tools_pb2.ListToolsRequest(page_size=2, page_token=first.next_page_token)
    )
    assert [tool.name for tool in (*first.tools, *last.tools)] == ["a", "b", "c"]
    assert last.next_page_token == ""


async def test_a_tool_is_described_whole(client: Stubs) -> None:
    """A tool's description has its schemas and example as JSON, its effect and its recovery rule."""
    tool = (await client.tools.GetTool(tools_pb2.GetToolRequest(name="echo"))).tool
    assert json.loads(tool.input_schema_json) == {"type": "object"}
    assert json.loads(tool.example_json) == {"text": "hello"}
    assert (tool.effect, tool.recovery) == (tools_pb2.EFFECT_PURE, tools_pb2.RECOVERY_RERUN)
    assert tool.timeout_seconds == 30.0
    async with refused(grpc.StatusCode.NOT_FOUND, "TOOL_NOT_FOUND"):
        await client.tools.GetTool(tools_pb2.GetToolRequest(name="none"))


async def test_a_call_is_made_as_asked_and_its_result_comes_back(world: ApiWorld, client: Stubs) -> None:
    """Arguments arrive exact, in the caller's name, and the result is the tool's."""
    call = tools_pb2.ToolCall(tool="echo", arguments_json='{"n": 12345678901234567890}', call_id="c-1")
    request = tools_pb2.InvokeToolRequest(call=call, workspace="/srv")
    result = (await client.tools.InvokeTool(request)).result
    assert result.success
    assert json.loads(result.data_json) == {"n": 12345678901234567890}
    assert json.loads(result.metadata_json)["duration_seconds"] == 0.25
    ((made, workspace, owner),) = world.behind.tools.calls
    assert (made.call_id, workspace, owner.uid) == ("c-1", "/srv", os.getuid())


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (tools_pb2.InvokeToolRequest(), "REQUIRED", "call"),
        (tools_pb2.InvokeToolRequest(call=tools_pb2.ToolCall()), "EMPTY", "call.tool"),
        (
            tools_pb2.InvokeToolRequest(call=tools_pb2.ToolCall(tool="t", arguments_json='"x"')),
            "NOT_AN_OBJECT",
            "call.arguments_json",
        ),
        (
            tools_pb2.InvokeToolRequest(
                call=tools_pb2.ToolCall(tool="t", arguments_json='{"a":"' + "x" * 300_000 + '"}')
            ),
            "TOO_LONG",
            "call.arguments_json",
        ),
        (
            tools_pb2.InvokeToolRequest(call=tools_pb2.ToolCall(tool="t"), workspace="x"),
            "RELATIVE_PATH",
            "workspace",
        ),
    ],
)
async def test_a_call_out_of_form_is_refused(
    client: Stubs, request_: tools_pb2.InvokeToolRequest, reason: str, field: str
) -> None:
    """A call that cannot be made is INVALID_ARGUMENT with its field."""
    async with refused(INVALID, reason, field):
        await client.tools.InvokeTool(request_)


class Delivered:
    """The daemon's end of a stream that serves tools: keeps the results."""

    def __init__(self) -> None:
        self.results: dict[str, ToolResult] = {}

    def offer(self, source: str, specs: Sequence[ToolSpec]) -> None:
        pass

    def end_call(self, call_id: str, result: ToolResult) -> None:
        self.results[call_id] = result

    async def next(self) -> ToClient | None:
        return None

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("result", "reason", "error"),
    [
        (tools_pb2.ToolResult(data_json=f'"{"x" * (1 << 20)}"'), "OUTPUT_TOO_LARGE", "1048576 bytes"),
        (tools_pb2.ToolResult(taint=["t"] * 17), "OUTPUT_TOO_LARGE", "the limit is 16"),
        (tools_pb2.ToolResult(data_json="plain text"), "OUTPUT_INVALID", "not valid JSON"),
        (tools_pb2.ToolResult(data_json='{"a": 1, "a": 2}'), "OUTPUT_INVALID", "key 'a' twice"),
        (tools_pb2.ToolResult(data_json=r'"\ud800"'), "OUTPUT_INVALID", "not valid JSON"),
    ],
    ids=["too long", "too many", "not JSON", "duplicate key", "lone surrogate"],
)
def test_a_result_out_of_form_fails_its_call_alone(
    result: tools_pb2.ToolResult, reason: str, error: str
) -> None:
    """The call has failed with the cause, and the stream takes the results of other calls."""
    served = Delivered()
    exchange = ToolExchange(served, os.getpid())
    exchange.receive(tools_pb2.ServeToolsRequest(offer=tools_pb2.ToolOffer()))
    result.success = True
    for call_id, given in (("c-1", result), ("c-2", tools_pb2.ToolResult(success=True, data_json="1"))):
        ended = tools_pb2.ToolCallEnded(call_id=call_id, result=given)
        exchange.receive(tools_pb2.ServeToolsRequest(ended=ended))
    failed = served.results["c-1"]
    assert (failed.success, failed.reason, served.results["c-2"].data) == (False, reason, 1)
    assert error in failed.error
