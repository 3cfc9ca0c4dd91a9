"""The real API on a real Unix socket, with calls in memory behind it and a real gRPC client before it.

Import the fixtures `world` and `client` for an API of each test's own.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from aeond.api.v1 import (
    daemon_pb2,
    daemon_pb2_grpc,
    memory_pb2_grpc,
    models_pb2_grpc,
    policy_pb2_grpc,
    runs_pb2_grpc,
    sessions_pb2_grpc,
    tools_pb2_grpc,
)
from aeond.server.api import Api
from aeond.server.door.access_control import AccessRule
from aeond.server.door.listening import bound_socket
from aeond.service.user_turns import ActiveUsers
from tests.support.api_calls import InMemoryCalls
from tests.support.doubles import ManualClock
from tests.support.service_world import NumberedIds

DEADLINE_SECONDS = 60


@dataclass
class ApiWorld:
    """The environment of API tests."""

    socket_path: Path
    admin_path: Path
    api: Api
    entry: AccessRule
    behind: InMemoryCalls

    def channel(self, *, admin: bool = False, **options: Any) -> grpc.aio.Channel:
        """A separate connection: by default, channels to the same address share one."""
        path = self.admin_path if admin else self.socket_path
        settings = {"grpc.use_local_subchannel_pool": 1, **options}
        return grpc.aio.insecure_channel(f"unix:{path}", options=list(settings.items()))


@dataclass
class Stubs:
    """A client of every service over one channel."""

    channel: grpc.aio.Channel

    def __post_init__(self) -> None:
        self.runs = runs_pb2_grpc.RunServiceStub(self.channel)
        self.sessions = sessions_pb2_grpc.SessionServiceStub(self.channel)
        self.tools = tools_pb2_grpc.ToolServiceStub(self.channel)
        self.memory = memory_pb2_grpc.MemoryServiceStub(self.channel)
        self.models = models_pb2_grpc.ModelServiceStub(self.channel)
        self.policy = policy_pb2_grpc.PolicyServiceStub(self.channel)
        self.daemon = daemon_pb2_grpc.DaemonServiceStub(self.channel)


@asynccontextmanager
async def api_world(
    folder: Path, *, entry: AccessRule | None = None, stall_seconds: float = 30.0
) -> AsyncIterator[ApiWorld]:
    """An API that answers, in this folder."""
    behind, entry = InMemoryCalls(), entry or AccessRule()
    path = folder / "aeond.sock"
    admin_path = folder / "aeond-admin.sock"
    with bound_socket(path) as listener, bound_socket(admin_path) as admin_listener:
        api = Api(
            behind.calls(),
            listener=listener,
            admin_listener=admin_listener,
            inner_folder=folder / "inner",
            entry=entry,
            clock=ManualClock(1_790_000_000.0),
            ids=NumberedIds(),
            active=ActiveUsers(ManualClock()),
            stall_seconds=stall_seconds,
        )
        async with api.opened():
            await api.announce(serving=True)
            yield ApiWorld(path, admin_path, api, entry, behind)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[ApiWorld]:
    async with api_world(tmp_path) as world:
        yield world


@pytest.fixture
async def client(world: ApiWorld) -> AsyncIterator[Stubs]:
    async with world.channel() as channel:
        yield Stubs(channel)


@pytest.fixture
async def admin(world: ApiWorld) -> AsyncIterator[Stubs]:
    async with world.channel(admin=True) as channel:
        yield Stubs(channel)


async def ask_raw(channel: grpc.aio.Channel, path: str, request: bytes) -> list[bytes]:
    """Calls any method with these bytes as its one message, and gives the bytes of its answers."""
    method: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(path)
    return [answer async for answer in method(request)]


async def alone(client: Stubs, connections: int = 1) -> None:
    """Returns once no other connection is left. To be called under a deadline."""
    status = daemon_pb2.GetStatusRequest()
    while (await client.daemon.GetStatus(status)).load.connections > connections:
        pass  # each look is a call, and waits for its answer


def status_of(error: grpc.RpcError) -> tuple[grpc.StatusCode, dict[str, str]]:
    """The code of a failed call, and its trailing metadata."""
    assert isinstance(error, grpc.aio.AioRpcError)
    return error.code(), {key: str(value) for key, value in error.trailing_metadata()}


@asynccontextmanager
async def refused(code: grpc.StatusCode, reason: str, field: str = "") -> AsyncIterator[None]:
    """The call inside fails in just this way."""
    with pytest.raises(grpc.RpcError) as raised:
        yield
    found, metadata = status_of(raised.value)
    assert (found, metadata.get("reason"), metadata.get("field", "")) == (code, reason, field)
