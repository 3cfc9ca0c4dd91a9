"""The service layer of a World behind the real API, on a socket that aeonctl can use."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from aeond.server.api import Api
from aeond.server.door.access_control import AccessRule
from aeond.server.door.listening import bound_socket
from aeond.service.user_turns import ActiveUsers
from tests.support.api_calls import InMemoryCalls
from tests.support.service_world import World


@asynccontextmanager
async def served(world: World, folder: Path) -> AsyncIterator[Path]:
    """The socket, while the world works; everything but its runs is in memory."""
    calls = replace(InMemoryCalls().calls(), runs=world.runs)
    socket = folder / "aeond.sock"
    with bound_socket(socket) as listener, bound_socket(folder / "admin.sock") as admin_listener:
        api = Api(
            calls,
            listener=listener,
            admin_listener=admin_listener,
            inner_folder=folder / "inner",
            entry=AccessRule(),
            clock=world.clock,
            ids=world.ids,
            active=ActiveUsers(world.clock),
            stall_seconds=30.0,
        )
        async with world.working(), api.opened():
            await api.announce(serving=True)
            yield socket
