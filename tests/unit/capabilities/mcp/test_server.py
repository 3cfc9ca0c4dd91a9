"""Keeping a server connected."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

from aeond.capabilities.mcp.server import MAX_FAILURES
from aeond.capabilities.mcp.wire import Wire
from aeond.errors import ToolError
from tests.support.doubles import ManualClock
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
