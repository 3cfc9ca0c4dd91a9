"""Servers follow the configuration."""

from dataclasses import replace

from aeond.capabilities.mcp.settings import ServerSettings
from tests.support.mcp_world import in_memory, mcp_world
from tests.support.tools import FreeTool


async def test_servers_come_and_go_with_the_configuration() -> None:
    """A reload starts new servers, removes the tools of others, and leaves those alone whose settings are the same."""
    one, two = ServerSettings("one", in_memory), ServerSettings("two", in_memory)
    async with mcp_world() as world:
        world.servers.adopt([one], ())
        await world.servers.settle(30)
        kept = world.registry.find("one_echo").tool
        world.servers.adopt([replace(one), two], ())
        await world.servers.settle(30)
        assert world.servers.states == {"one": "", "two": ""}
        assert world.registry.find("one_echo").tool.server is kept.server  # type: ignore[attr-defined]
        world.servers.adopt([two], ())
        assert {name.partition("_")[0] for name in world.registry.list_names()} == {"two"}
    assert world.registry.list_names() == []


async def test_a_name_that_is_taken_is_left_out() -> None:
    """A server cannot replace a tool that exists; its other tools are registered."""
    async with mcp_world() as world:
        world.registry.register(FreeTool("demo_echo"))
        await world.use(in_memory)
        assert world.registry.find("demo_echo").spec.source == ""
        assert "demo_work" in world.registry.list_names()
