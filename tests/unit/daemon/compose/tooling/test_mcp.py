"""MCP servers by HTTP, behind the gate."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.mcp.settings import Open
from aeond.capabilities.mcp.wire import http_wire
from aeond.daemon.compose.tooling.mcp import gate_to
from aeond.errors import InvalidInputError
from tests.support.mcp_world import McpWorld, by_http, mcp_world


@pytest.fixture
async def world() -> AsyncIterator[McpWorld]:
    async with mcp_world() as made:
        yield made


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[int]:
    """The port of a server on the loopback."""
    async with by_http(tmp_path):
        yield int((tmp_path / "port").read_text(encoding="utf-8"))


def named(port: int, answers: Sequence[str], *, local: bool) -> tuple[Open, list[str]]:
    """A server by name, whose name server gives these addresses one after the other, and the names that it was asked."""
    asked: list[str] = []

    async def resolve(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return (answers[min(len(asked), len(answers)) - 1],)

    url = f"http://localhost:{port}/mcp"
    return partial(http_wire, url, lambda: "", gate_to(url, local=local, field="url", resolve=resolve)), asked


async def test_a_local_server_that_the_owner_allows_is_used(world: McpWorld, port: int) -> None:
    """The connection goes to the address that was checked, and a call is recorded as a request, also if it fails."""
    opened, asked = named(port, ["127.0.0.1"], local=True)
    await world.use(opened, url="http://mcp.example.org/mcp")
    assert world.servers.states == {"demo": ""}
    result = await world.call("echo", text="hi")
    assert result.success, result.error
    assert [(effect.kind, effect.target) for effect in result.effects] == [
        ("http.requested", "http://mcp.example.org/mcp")
    ]
    rejected = await world.call("reject", text="no")
    assert (rejected.success, [effect.kind for effect in rejected.effects]) == (False, ["http.requested"])
    assert {*asked} == {"localhost"}


async def test_a_server_that_repeats_its_key_is_not_quoted(world: McpWorld, port: int) -> None:
    """The key that a server receives is replaced in results and errors of its tools."""
    key = "bearer-key-7321"
    url = f"http://127.0.0.1:{port}/mcp"
    await world.use(partial(http_wire, url, lambda: key, gate_to(url, local=True, field="url")))
    echoed = await world.call("echo", text=f"got {key}, twice {key}")
    assert echoed.data == "got [key], twice [key]"
    failed = await world.call("no_such_tool_of_the_server", text=key)
    assert not failed.success
    assert key not in repr(failed)


async def test_a_server_that_turns_out_to_be_local_is_refused(world: McpWorld, port: int) -> None:
    """A name with an address of this machine is refused, with the key that would allow it."""
    opened, _ = named(port, ["127.0.0.1"], local=False)
    with anyio.move_on_after(5):
        await world.use(opened)
    assert "set `local = true`" in world.servers.states["demo"]


async def test_addresses_are_checked_for_each_request(world: McpWorld, port: int) -> None:
    """A name server that moves the server to an address without services cannot move the requests there."""
    opened, _ = named(port, ["127.0.0.1"] * 8 + ["169.254.169.254"], local=True)
    await world.use(opened)
    assert world.servers.states == {"demo": ""}
    for _ in range(8):
        result = await world.call("echo", text="hi")
        if not result.success:
            break
    assert not result.success


def test_an_address_that_can_be_read_in_two_ways_is_refused() -> None:
    """A configuration with such an address is invalid, with the path of its key."""
    with pytest.raises(InvalidInputError) as caught:
        gate_to("http://user@host/mcp", local=False, field="mcp.notes.url")
    assert (caught.value.reason, caught.value.field) == ("CONFIG_INVALID", "mcp.notes.url")
