"""Keeping a server connected."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import anyio
import pytest
from mcp.shared.memory import create_client_server_memory_streams

from aeond.capabilities.mcp.server import MAX_FAILURES
from aeond.capabilities.mcp.wire import Wire
from aeond.domain.tools import CALL_CUT, ToolResult
from aeond.errors import ToolError
from tests.support.doubles import ManualClock
from tests.support.mcp_server import server
from tests.support.mcp_world import mcp_world
from tests.support.surfaces import wait_until


async def test_restarts_back_off_and_end() -> None:
    """A server that cannot be started is tried again after longer and longer times, and not for ever; a reload starts it
    again."""
    clock = ManualClock()
    tries: list[float] = []

    @asynccontextmanager
    async def broken() -> AsyncIterator[Wire]:
        tries.append(clock.now)
        raise ToolError("no such program", reason="SANDBOX_UNAVAILABLE")
        yield  # type: ignore[unreachable]  # makes it a generator

    async with mcp_world(clock) as world:
        await world.use(broken)
        while len(tries) < MAX_FAILURES:
            count = len(tries)
            clock.advance(0.5 * 2 ** (count - 1))
            await wait_until(lambda count=count: len(tries) > count)  # type: ignore[misc]
        assert [after - before for before, after in pairwise(tries)] == [
            0.5 * 2**number for number in range(MAX_FAILURES - 1)
        ]
        clock.advance(3_600)
        await wait_until(lambda: "correct it, then reload" in world.servers.states["demo"])
        assert (await world.call("echo", text="hi")).reason == "TOOL_NOT_FOUND"
        await world.use(broken)
        assert len(tries) == MAX_FAILURES + 1


async def test_a_session_that_ends_is_a_lost_connection() -> None:
    """A server whose messages end, without a sign of the transport, leaves the outcome of its call unknown, and is connected
    again."""
    servers: list[anyio.CancelScope] = []

    async def last_words() -> str:
        return "it has left"

    @asynccontextmanager
    async def ending() -> AsyncIterator[Wire]:
        async with (
            create_client_server_memory_streams() as (ours, theirs),
            anyio.create_task_group() as tasks,
        ):

            async def serve() -> None:
                made = server()
                with anyio.CancelScope() as scope:
                    servers.append(scope)
                    await made.run(*theirs, made.create_initialization_options())

            tasks.start_soon(serve)
            yield Wire(ours, last_words)
            tasks.cancel_scope.cancel()

    results: list[ToolResult] = []
    async with mcp_world() as world:
        await world.use(ending)

        async def call() -> None:
            results.append(await world.call("wait"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await wait_until(lambda: bool(world.updates))
            servers[0].cancel()
        (cut,) = results
        assert cut.reason == CALL_CUT
        assert "it has left" in cut.error
        assert (await world.call("echo", text="again")).data == "again"
        assert len(servers) == 2


async def test_an_internal_error_is_a_lost_connection() -> None:
    """An error of a class that no protocol names, raised while messages are read, ends the connection, and the server is
    connected again."""
    tries: list[str] = []
    clock = ManualClock()

    async def last_words() -> str:
        return "it has left"

    async def fail() -> None:
        raise ZeroDivisionError("an internal error")

    @asynccontextmanager
    async def failing() -> AsyncIterator[Wire]:
        tries.append("")
        async with (
            create_client_server_memory_streams() as (ours, _),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(fail)
            yield Wire(ours, last_words)

    async with mcp_world(clock) as world:
        await world.use(failing)
        assert world.servers.states == {"demo": "an internal error"}
        clock.advance(0.5)
        await wait_until(lambda: len(tries) == 2)


@pytest.mark.parametrize(
    "error", [ValueError("embedded null byte"), RuntimeError("can't start new thread")], ids=str
)
async def test_a_command_that_cannot_be_run_is_a_state(error: Exception) -> None:
    """A word with a NUL in a server's command, and a process that cannot be started, are reported in its state, and do not end the
    daemon."""

    @asynccontextmanager
    async def unusable() -> AsyncIterator[Wire]:
        raise error
        yield  # type: ignore[unreachable]  # makes it a generator

    async with mcp_world(ManualClock()) as world:
        await world.use(unusable)
        assert world.servers.states == {"demo": str(error)}
