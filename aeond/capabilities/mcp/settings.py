"""The settings of one MCP server."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from hashlib import sha256
from typing import TYPE_CHECKING

from aeond.domain.tools import Effect, ToolCode
from aeond.frozen import frozen

if TYPE_CHECKING:
    from aeond.capabilities.mcp.wire import Wire

Open = Callable[[], "AbstractAsyncContextManager[Wire]"]
"""Connects to the server: starts its process, or prepares requests to its address."""


@frozen
class ServerSettings:
    """`effects` has the owner's classification of tools, by the names that the server gives them."""

    name: str
    open: Open
    identity: object = None
    """Everything that `open` depends on: a server whose identity stays the same is not restarted."""
    effects: Mapping[str, Effect] = field(default_factory=dict)
    url: str = ""
    """The address of a server that is reached by HTTP: each call is a request to it, and recorded as one."""
    timeout_seconds: float = 60.0
    max_output_bytes: int = 64 * 1024

    @property
    def tool_code(self) -> ToolCode:
        """Identifies the command or the address with everything that the server may reach."""
        return ToolCode(sha256(repr(self.identity).encode()).hexdigest())

    @property
    def source(self) -> str:
        """The source of the server's tools, and the taint of their results."""
        return f"mcp:{self.name}"
