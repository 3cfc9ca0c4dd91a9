"""Composes the MCP client: how each configured server is reached. The SDK is imported only if there is one."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aeond.capabilities.tools.registry import Registry
from aeond.daemon.clocks import SystemClock
from aeond.daemon.config.network_sections import McpNetwork, McpSection
from aeond.daemon.config.paths import Paths, real_names
from aeond.daemon.config.schema import Config
from aeond.daemon.config.secrets import read_secret
from aeond.errors import InvalidInputError, ToolError
from aeond.ports import Clock, Tool
from aeond.service.watching.feed import HotFeed

if TYPE_CHECKING:
    from aeond.capabilities.egress.gate import Resolve
    from aeond.capabilities.mcp.servers import Servers
    from aeond.capabilities.mcp.settings import ServerSettings
    from aeond.capabilities.mcp.wire import Wire

SETTLE_SECONDS: Final = 10.0
"""How long a start waits for servers, so that runs of an earlier daemon find their tools again."""


class McpClient:
    """The servers of the configuration in force."""

    def __init__(self, servers: "Servers | None", paths: Paths, clock: Clock) -> None:
        self._servers = servers
        self._paths = paths
        self._clock = clock

    def settings(self, config: Config) -> "Sequence[ServerSettings]":
        """The settings of all servers. InvalidInputError (reason MCP_MISSING) if the SDK is not installed or
        (MCP_NEEDS_RESTART) it was not loaded at the start."""
        if config.mcp and self._servers is None:
            raise InvalidInputError(
                "the daemon was started without an MCP server: restart it to use the first one",
                reason="MCP_NEEDS_RESTART",
                field="mcp",
            )
        return server_settings(config, self._paths, self._clock)

    def adopt(self, settings: "Sequence[ServerSettings]", config: Config) -> None:
        """Starts, stops and replaces servers."""
        if self._servers is not None:
            self._servers.adopt(settings, config.tools.accepted)


@asynccontextmanager
async def opened_mcp(
    config: Config, paths: Paths, registry: Registry, clock: Clock, feed: HotFeed
) -> AsyncIterator[McpClient]:
    """The MCP client while the context is open. InvalidInputError (reason MCP_MISSING) if the SDK is needed and not
    installed."""
    if not config.mcp:
        yield McpClient(None, paths, clock)
        return
    settings = server_settings(config, paths, clock)
    from aeond.capabilities.mcp.servers import Servers

    async with Servers(registry, clock, feed.update) as servers:
        feed.listen(servers.hear)
        servers.adopt(settings, config.tools.accepted)
        await servers.settle(SETTLE_SECONDS)
        yield McpClient(servers, paths, clock)


def server_settings(config: Config, paths: Paths, clock: Clock) -> "Sequence[ServerSettings]":
    """The settings of all configured servers. InvalidInputError (reason MCP_MISSING) if the SDK is not installed."""
    if not config.mcp:
        return ()
    try:
        from aeond.capabilities.mcp.settings import ServerSettings
        from aeond.capabilities.mcp.wire import http_wire
    except ModuleNotFoundError as error:
        raise InvalidInputError(
            f"MCP servers are configured and the package {error.name} is missing: pip install 'aeond[mcp]'",
            reason="MCP_MISSING",
            field="mcp",
        ) from error
    hidden = [Path(name) for name in real_names(paths.own_files)]
    return [
        ServerSettings(
            name,
            open=partial(
                http_wire,
                one.url,
                partial(read_secret, one.key_credential, one.key_file),
                gate_to(one.url, local=one.local, field=f"mcp.{name}.url"),
            )
            if one.url
            else partial(process_wire, one, hidden, clock),
            identity=one.model_dump(exclude={"effects", "timeout_seconds", "max_output_bytes"}),
            effects=one.effects,
            url=one.url,
            timeout_seconds=one.timeout_seconds,
            max_output_bytes=one.max_output_bytes,
        )
        for name, one in config.mcp.items()
    ]


def gate_to(
    url: str, *, local: bool, field: str, resolve: "Resolve | None" = None
) -> Callable[[str], Awaitable[str]]:
    """The gate to the server of this address alone: the IP address for each request. InvalidInputError (reason
    CONFIG_INVALID)."""
    from aeond.capabilities.egress.gate import Gate
    from aeond.capabilities.egress.rules import server_rules
    from aeond.capabilities.egress.urls import parse_url

    try:
        gate = Gate(server_rules(url, local=local), resolve=resolve)
    except ToolError as error:
        raise InvalidInputError(f"{field}: {error.message}", reason="CONFIG_INVALID", field=field) from error

    async def check(requested: str) -> str:
        return (await gate.checked_addresses(parse_url(requested)))[0]

    return check


class _Nowhere:
    """A registry for tools that are never called."""

    def register(self, tool: Tool) -> None:
        pass

    def remove(self, name: str) -> None:
        pass


async def check_servers(config: Config, paths: Paths) -> Mapping[str, str]:
    """By name of each configured server: why it cannot be used, "" if it can. Starts them all for a short time.
    InvalidInputError as `server_settings`."""
    clock = SystemClock()
    settings = server_settings(config, paths, clock)
    if not settings:
        return {}
    from aeond.capabilities.mcp.servers import Servers

    async with Servers(_Nowhere(), clock, lambda _update: None) as servers:
        servers.adopt(settings, ())
        await servers.settle(SETTLE_SECONDS)
        return dict(servers.states)


@asynccontextmanager
async def process_wire(section: McpSection, hidden: Sequence[Path], clock: Clock) -> "AsyncIterator[Wire]":
    """Runs the server's program in a sandbox while the context is open."""
    from aeond.capabilities.mcp.wire import socket_wire
    from aeond.capabilities.sandbox.cgroups import find_group_home
    from aeond.capabilities.sandbox.servers.process import ServerProgram, server_process

    program = ServerProgram(
        command=(section.command, *section.args),
        environment={name: os.environ[name] for name in section.environment if name in os.environ},
        readable=tuple(real_names(section.readable)),
        writable=tuple(real_names(section.writable)),
        network=section.network is McpNetwork.HOST,
        memory_bytes=section.memory_mib << 20,
    )
    async with (
        server_process(program, hidden, find_group_home()) as (ours, last_words),
        socket_wire(ours, last_words, clock) as wire,
    ):
        yield wire
