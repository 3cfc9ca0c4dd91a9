"""The whole API of the daemon as one thing that opens, says how it is, drains and closes."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from aeond.api.v1 import daemon_pb2, memory_pb2, models_pb2, runs_pb2, sessions_pb2, tools_pb2
from aeond.frozen import frozen
from aeond.ports import Clock, Ids
from aeond.server.binding import Binding, Service
from aeond.server.calls import DaemonCalls, MemoryCalls, ModelCalls, RunCalls, SessionCalls, ToolCalls
from aeond.server.daemon import DaemonShim
from aeond.server.door import Door
from aeond.server.entry import EntryRule
from aeond.server.intercepting import ErrorInterceptor
from aeond.server.memory import MemoryShim
from aeond.server.models import ModelShim
from aeond.server.runs import RunShim
from aeond.server.serving import SOCKET_NAME, GrpcServer
from aeond.server.sessions import SessionShim
from aeond.server.streaming import STALL_SECONDS, Streams
from aeond.server.tools import ToolShim

DRAIN_SECONDS = 5.0
MODELS = models_pb2.DESCRIPTOR.services_by_name["ModelService"].full_name


@frozen
class Calls:
    """Everything that clients can ask for."""

    runs: RunCalls
    sessions: SessionCalls
    tools: ToolCalls
    memory: MemoryCalls
    models: ModelCalls
    daemon: DaemonCalls


class Api:
    """Serves the calls on a listening socket, through the door.

    `inner_folder` is a folder for the server's own socket; it is made if it is not there and closed to
    everybody else. Only one Api at a time may use it: the daemon's lock of a single instance sees to that.
    """

    def __init__(
        self,
        calls: Calls,
        *,
        listener: socket.socket,
        inner_folder: Path,
        entry: EntryRule,
        clock: Clock,
        ids: Ids,
        stall_seconds: float = STALL_SECONDS,
    ) -> None:
        self._streams = Streams(stall_seconds)
        self._door = Door(listener, inner_folder / SOCKET_NAME, entry)
        self._server = GrpcServer(
            inner_folder,
            services=(
                Service(runs_pb2.DESCRIPTOR.services_by_name["RunService"], RunShim(calls.runs)),
                Service(
                    sessions_pb2.DESCRIPTOR.services_by_name["SessionService"], SessionShim(calls.sessions)
                ),
                Service(tools_pb2.DESCRIPTOR.services_by_name["ToolService"], ToolShim(calls.tools)),
                Service(memory_pb2.DESCRIPTOR.services_by_name["MemoryService"], MemoryShim(calls.memory)),
                Service(
                    models_pb2.DESCRIPTOR.services_by_name["ModelService"], ModelShim(calls.models, clock)
                ),
                Service(
                    daemon_pb2.DESCRIPTOR.services_by_name["DaemonService"],
                    DaemonShim(calls.daemon, self._door, self._streams),
                ),
            ),
            binding=Binding(self._door.owner_of, self._streams),
            interceptor=ErrorInterceptor(ids),
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Answers meanwhile; health says NOT_SERVING until `announce`. At the end streams are ended first,
        then calls, then connections."""
        async with self._server.serving(), self._door.opened():
            try:
                yield
            finally:
                await self.drain()
                await self._server.stop()

    def adopt(self, entry: EntryRule) -> None:
        """Who may come in from now on; who is in stays in."""
        self._door.adopt(entry)

    async def announce(self, *, serving: bool) -> None:
        """What health says from now on."""
        await self._server.announce(serving=serving)

    async def announce_models(self, *, serving: bool) -> None:
        """What health says of the service of models from now on, unless all of them are announced anew."""
        await self._server.announce(serving=serving, service=MODELS)

    async def drain(self) -> None:
        """Ends every stream with DRAINING and the place to go on from, and lets no new one begin. Calls
        that are no streams go on being answered. Returns within a few seconds; a repeat does no harm."""
        with anyio.CancelScope(shield=True):
            await self._server.announce(serving=False)
            self._streams.drain()
            with anyio.move_on_after(DRAIN_SECONDS):
                await self._streams.wait_closed()
