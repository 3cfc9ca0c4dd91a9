"""Whether a server writes native tool calls."""

from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.http.endpoints import Endpoint, endpoint_of
from aeond.capabilities.llm.http.tool_probe import calls_tools
from aeond.errors import LLMGoneError
from tests.support.canned_server import answer, canned_server
from tests.support.doubles import ManualClock

BODY = {"model": "m", "tools": [{"type": "function", "function": {"name": "ready"}}]}
CALL = {"id": "1", "type": "function", "function": {"name": "ready", "arguments": "{}"}}


def message(**fields: Any) -> bytes:
    return answer({"choices": [{"message": {"role": "assistant", **fields}}]})


def at(socket: Path) -> Endpoint:
    return endpoint_of(f"unix:{socket}", "")


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (message(content=None, tool_calls=[CALL]), True),
        (message(content="I am ready."), False),
        (message(content="", tool_calls=[{**CALL, "function": {"name": "other"}}]), False),
        (answer({"error": {"message": "tools are not supported"}}, "400 Bad Request"), False),
        (answer({"choices": []}), False),
    ],
)
async def test_only_a_call_of_the_tool_confirms(tmp_path: Path, response: bytes, expected: bool) -> None:
    """Text, another call, an error and a malformed answer all mean that tools are not called natively."""
    async with canned_server(tmp_path / "s.sock", [response]) as server:
        client = OpenAIClient(at(tmp_path / "s.sock"), Watchdog(ManualClock()))
        assert await calls_tools(client, BODY) is expected
    assert server.asked == [("/v1/chat/completions", BODY)]


async def test_a_broken_connection_proves_nothing(tmp_path: Path) -> None:
    """A server that goes away in the middle is no server without tools."""
    async with canned_server(tmp_path / "s.sock", [b""]):
        client = OpenAIClient(at(tmp_path / "s.sock"), Watchdog(ManualClock()))
        with pytest.raises(LLMGoneError):
            await calls_tools(client, BODY)
