"""The settings of an MCP server."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from aeond.capabilities.mcp.settings import ServerSettings


def never() -> AbstractAsyncContextManager[Any]:
    raise AssertionError("nothing is opened here")


def test_another_command_is_another_code() -> None:
    """An approval of a server's tool ends when the server's command, folders or network change."""
    codes = {
        ServerSettings("demo", never, identity).tool_code.digest for identity in (("a", ()), ("a", ("/srv",)))
    }
    assert len(codes) == 2
    assert ServerSettings("other", never, ("a", ())).tool_code.digest in codes
