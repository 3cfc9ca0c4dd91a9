"""The complete API of the daemon as one object that opens, reports its state, drains and closes."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import anyio

from aeond.api.v1 import daemon_pb2, memory_pb2, models_pb2, policy_pb2, runs_pb2, sessions_pb2, tools_pb2
from aeond.frozen import frozen
from aeond.ports import Clock, Ids
from aeond.server.binding import Binding, Service
from aeond.server.calls import (
    DaemonCalls,
    MemoryCalls,
    ModelCalls,
    PolicyCalls,
    RunCalls,
    SessionCalls,
    ToolCalls,
)
from aeond.server.door.access_control import AccessRule
from aeond.server.door.callers import Callers
from aeond.server.door.door import Door
from aeond.server.error_interceptor import ErrorInterceptor
from aeond.server.grpc_server import SOCKET_NAME, GrpcServer
from aeond.server.request_sizes import DEFAULT_LIMIT, RequestSizes
from aeond.server.services.daemon import DaemonShim
from aeond.server.services.memory import MemoryShim
from aeond.server.services.models import ModelShim
from aeond.server.services.policy import PolicyShim
from aeond.server.services.runs import RunShim
from aeond.server.services.sessions import SessionShim
from aeond.server.services.tools import ToolShim
from aeond.server.streaming import STALL_SECONDS, Streams
from aeond.service.user_turns import ActiveUsers

DRAIN_SECONDS = 5.0
# Besides the permissions of the administrative socket, which may be passed by a service manager.
ADMINS = AccessRule(user_ids=frozenset({0, os.geteuid()}), max_connections=32)
MODELS = models_pb2.DESCRIPTOR.services_by_name["ModelService"].full_name


@frozen
class Calls:
    """The service calls behind all API methods."""

    runs: RunCalls
    sessions: SessionCalls
    tools: ToolCalls
    memory: MemoryCalls
    models: ModelCalls
    daemon: DaemonCalls
    policy: PolicyCalls


class Api:
    """Serves the calls on a listening socket, behind the door, and to administrators on a second one.

    `inner_folder` is a folder for the server's own socket; it is created if needed and made inaccessible to
    other users. Only one Api at a time may use it; the daemon's single-instance lock ensures this.
    """

    def __init__(
        self,
        calls: Calls,
        *,
        listener: socket.socket,
        admin_listener: socket.socket,
        inner_folder: Path,
        entry: AccessRule,
        clock: Clock,
        ids: Ids,
        active: ActiveUsers,
        stall_seconds: float = STALL_SECONDS,
        request_limit_bytes: int = DEFAULT_LIMIT,
    ) -> None:
        self._streams = Streams(stall_seconds)
        callers = Callers()
        self._sizes = RequestSizes(callers.of, request_limit_bytes)
        self._door = Door(listener, inner_folder / SOCKET_NAME, entry, callers)
        self._admin_door = Door(admin_listener, inner_folder / SOCKET_NAME, ADMINS, callers, is_admin=True)
        self._server = GrpcServer(
            inner_folder,
            services=(
                _service(runs_pb2, RunShim(calls.runs)),
                _service(sessions_pb2, SessionShim(calls.sessions)),
                _service(tools_pb2, ToolShim(calls.tools)),
                _service(memory_pb2, MemoryShim(calls.memory)),
                _service(policy_pb2, PolicyShim(calls.policy)),
                _service(models_pb2, ModelShim(calls.models, clock)),
                _service(daemon_pb2, DaemonShim(calls.daemon, (self._door, self._admin_door), self._streams)),
            ),
            binding=Binding(callers.of, self._streams),
            interceptor=ErrorInterceptor(ids, callers.of, self._sizes, active),
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Serves while the context is open; health reports NOT_SERVING until `announce`. On exit, streams end
        first, then calls, then connections.
        """
        async with self._server.serving(), self._door.opened(), self._admin_door.opened():
            try:
                yield
            finally:
                await self.drain()
                await self._server.stop()

    @property
    def connections(self) -> int:
        """The number of open connections at both sockets."""
        return self._door.connections + self._admin_door.connections

    @property
    def streams(self) -> int:
        """The number of open streams."""
        return self._streams.count

    def adopt(self, entry: AccessRule, request_limit_bytes: int = DEFAULT_LIMIT) -> None:
        """Applies this access rule to new connections at the main socket, and the limit for the requests of one user to
        new requests; open connections stay open.
        """
        self._door.adopt(entry)
        self._sizes.limit_bytes = request_limit_bytes

    async def announce(self, *, serving: bool) -> None:
        """Sets the state that health reports."""
        await self._server.announce(serving=serving)

    async def announce_models(self, *, serving: bool) -> None:
        """Sets the health of the model service alone, until the next `announce`."""
        await self._server.announce(serving=serving, service=MODELS)

    async def drain(self) -> None:
        """Ends every stream with DRAINING and the position to resume from, and rejects new streams. Unary
        calls are still answered. Returns within a few seconds. Idempotent.
        """
        with anyio.CancelScope(shield=True):
            await self._server.announce(serving=False)
            self._streams.drain()
            with anyio.move_on_after(DRAIN_SECONDS):
                await self._streams.wait_closed()


def _service(module: ModuleType, shim: object) -> Service:
    """The one service that a file of the contract has, with its implementation."""
    (descriptor,) = module.DESCRIPTOR.services_by_name.values()
    return Service(descriptor, shim)
