"""The tools that act on the machine, the web and MCP servers, over surroundings that do nothing and note what reaches them.

The tools are the real ones. A lookup of a name, a connection, a program in the sandbox or on the desktop, and a call of an
MCP server are noted in `done`; none of them succeeds, except on the desktop.
"""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

import mcp_types
from anyio.lowlevel import checkpoint

from aeond.capabilities.egress.gate import Gate, Streams
from aeond.capabilities.egress.rules import EgressRules, server_rules
from aeond.capabilities.hands.desktop import NOTIFIER, OPENER, Desktop
from aeond.capabilities.hands.hand_set import hands
from aeond.capabilities.hands.web.tool_set import web_tools
from aeond.capabilities.hands.workshop import Workshop
from aeond.capabilities.mcp.settings import ServerSettings
from aeond.capabilities.mcp.tool import McpTool
from aeond.capabilities.mcp.translation import spec_of
from aeond.capabilities.sandbox.conversing import USUAL, Conditions, ignore_text
from aeond.capabilities.sandbox.messages import Request
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import Effect, ToolContext, description_digest
from aeond.domain.values import JsonObject
from aeond.errors import ToolError
from aeond.ports import Tool
from tests.support.doubles import ManualClock
from tests.support.undo import InMemoryUndoLog

SEARCH: Final = "http://search.example/search"
PUBLIC_ADDRESS: Final = "93.184.216.34"
SERVER: Final = "office"
_MEMORY_BYTES: Final = 1 << 30
_TEXT: Final = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def _unreachable() -> NoReturn:
    raise AssertionError("a server is connected to only by what calls it")


@dataclass
class NotedHands:
    """The tools; `folder` gets stand-ins for the programs of the desktop of the user `uid`. Every host may be reached. The
    MCP server has two tools: `office_send` is unclassified, and `office_post` is accepted as one of the network."""

    folder: Path
    uid: int
    noted: list[str] = field(default_factory=list)
    profile: str = "noted"

    @property
    def done(self) -> Sequence[str]:
        """What reached the network, a server, the sandbox or the desktop."""
        return [*self.noted, *(self._log.read_text("utf-8").splitlines() if self._log.exists() else ())]

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def tools(self, files: ContainedFiles) -> Sequence[Tool]:
        threads = WorkerThreads()
        workshop = Workshop(
            self,
            files,
            threads,
            InMemoryUndoLog(),
            ManualClock(),
            _MEMORY_BYTES,
            lambda _run, _step: ignore_text,
        )
        gate = Gate(EgressRules.of(["*"], []), resolve=self._resolve, dial=self._dial)
        search = Gate(server_rules(SEARCH, local=True), resolve=self._resolve, dial=self._dial)
        return [
            *hands(workshop, self._desktop(files, threads), ()),
            *web_tools(gate, search, SEARCH, workshop, ()),
            *self._mcp_tools(),
        ]

    def _desktop(self, files: ContainedFiles, threads: WorkerThreads) -> Desktop:
        self.folder.mkdir()
        for name in (NOTIFIER, OPENER):
            program = self.folder / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> {self._log}\n')
            program.chmod(0o755)
        return Desktop(self.uid, {"PATH": str(self.folder)}, files, threads)

    def _mcp_tools(self) -> Sequence[Tool]:
        settings = ServerSettings(SERVER, _unreachable, effects={"post": Effect.NET})
        send, post = (
            mcp_types.Tool(name=name, description=f"{name.capitalize()}s a text.", input_schema=_TEXT)
            for name in ("send", "post")
        )
        accepted = [description_digest(spec_of(post, settings, (), ""))]
        return [
            McpTool(spec_of(tool, settings, accepted, ""), tool.name, self, settings.tool_code)
            for tool in (send, post)
        ]

    async def perform(
        self, request: Request, max_value_bytes: int, conditions: Conditions = USUAL
    ) -> NoReturn:
        """See Sandbox."""
        self.noted.append(f"sandbox: {request.tool} {request.arguments}")
        await checkpoint()
        raise ToolError("there is no sandbox", reason="SANDBOX_UNAVAILABLE")

    async def call(self, tool: McpTool, arguments: JsonObject, context: ToolContext) -> NoReturn:
        """See Calls."""
        self.noted.append(f"server: {tool.name} {arguments}")
        await checkpoint()
        raise ToolError("there is no server", reason="MCP_SERVER_DOWN")

    def holds(self, tool: McpTool, arguments: JsonObject, context: ToolContext) -> bool:
        return False

    async def _resolve(self, host: str, port: int) -> Sequence[str]:
        self.noted.append(f"lookup: {host}:{port}")
        await checkpoint()
        return [PUBLIC_ADDRESS]

    async def _dial(self, address: str, port: int, context: ssl.SSLContext | None, name: str) -> Streams:
        self.noted.append(f"connection: {name}:{port}")
        await checkpoint()
        raise ConnectionRefusedError("there is no network")
