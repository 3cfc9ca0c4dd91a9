"""A registry and an invoker with one MCP server, reached in one of three ways: in memory, as a sandboxed process, by HTTP."""

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.memory import create_client_server_memory_streams

from aeond.capabilities.mcp.servers import Servers
from aeond.capabilities.mcp.settings import Open, ServerSettings
from aeond.capabilities.mcp.wire import Wire, http_wire
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose.tooling.mcp import gate_to, process_wire
from aeond.daemon.config.network_sections import McpSection
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.domain.tools import Effect, ToolCall, ToolContext, ToolResult
from aeond.domain.values import JsonValue
from aeond.ports import Clock
from tests.support.authorisers import AllowAll
from tests.support.mcp_server import server
from tests.support.repository import ROOT
from tests.support.surfaces import wait_until

SCRIPTED = ROOT / "tests" / "support" / "mcp_server.py"
SETTLE_SECONDS = 30.0


@dataclass
class McpWorld:
    """The surroundings of MCP servers in a daemon."""

    clock: Clock = field(default_factory=SystemClock)
    registry: Registry = field(default_factory=Registry)
    updates: list[LiveUpdate] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.servers = Servers(self.registry, self.clock, self.updates.append)
        self.invoker = GuardedInvoker(self.registry, self.clock, AllowAll())

    async def use(
        self,
        opened: Open,
        *,
        accepted: Sequence[str] = (),
        effects: Mapping[str, Effect] | None = None,
        timeout_seconds: float = 30.0,
        url: str = "",
    ) -> None:
        """Makes this the server named `demo`, and returns when it is settled."""
        settings = ServerSettings("demo", opened, opened, effects or {}, url, timeout_seconds)
        self.registry.accept(accepted)
        self.servers.adopt([settings], accepted)
        await self.servers.settle(SETTLE_SECONDS)

    async def call(
        self, tool: str, *, answer: JsonValue = None, run_id: str = "run1", step: str = "", **arguments: Any
    ) -> ToolResult:
        """The result of a call as a step of a run; by default each tool has one call id in a run."""
        call = ToolCall(f"demo_{tool}", arguments, f"{run_id}/{step or tool}")
        context = ToolContext(run_id, "s1" if run_id else "", call.call_id, "", answer=answer)
        return await self.invoker.invoke(call, context)

    async def connected(self, name: str = "demo") -> None:
        await wait_until(lambda: self.servers.states.get(name) == "")


@asynccontextmanager
async def mcp_world(clock: Clock | None = None) -> AsyncIterator[McpWorld]:
    world = McpWorld(clock or SystemClock())
    async with world.servers:
        yield world


@asynccontextmanager
async def in_memory() -> AsyncIterator[Wire]:
    """The scripted server in this process."""
    made = server()

    async def last_words() -> str:
        return "it is gone"

    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
        tasks.start_soon(made.run, *theirs, made.create_initialization_options())
        yield Wire(ours, last_words)
        tasks.cancel_scope.cancel()


def as_process(*arguments: str, clock: Clock | None = None, **settings: Any) -> Open:
    """The scripted server, or another Python program, as a sandboxed process."""
    section = McpSection(
        command=sys.executable,
        args=arguments or (str(SCRIPTED), "stdio"),
        readable=(str(ROOT), *settings.pop("readable", ())),
        **settings,
    )
    return partial(process_wire, section, (), clock or SystemClock())


@asynccontextmanager
async def by_http(folder: Path) -> AsyncIterator[Open]:
    """The scripted server on a port of the loopback."""
    port_file = folder / "port"
    process = await anyio.open_process([sys.executable, str(SCRIPTED), "http", str(port_file)], cwd=ROOT)
    try:
        await wait_until(port_file.exists)
        url = f"http://127.0.0.1:{port_file.read_text(encoding='utf-8')}/mcp"
        yield partial(http_wire, url, lambda: "", gate_to(url, local=True, field="url"))
    finally:
        with suppress(ProcessLookupError):  # it may have died, as it was asked to
            process.kill()
        await process.aclose()


@asynccontextmanager
async def reached(way: str, folder: Path) -> AsyncIterator[Open]:
    """The scripted server, reached in this way: memory, process or http."""
    if way == "http":
        async with by_http(folder) as opened:
            yield opened
    else:
        yield in_memory if way == "memory" else as_process()
