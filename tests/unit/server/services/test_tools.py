import json
import os

import grpc
import pytest

from aeond.api.v1 import tools_pb2
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
