"""The inner gRPC server: on a socket that only this user can reach, behind the door."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health
from grpc_reflection.v1alpha import reflection

from aeond.private_folders import make_private
from aeond.server.binding import Binding, Service
from aeond.server.intercepting import MAX_REQUEST_BYTES, ErrorInterceptor
from aeond.server.listening import check_length

SOCKET_NAME = "grpc.sock"
STOP_GRACE_SECONDS = 2.0
ANNOUNCE_SECONDS = 2.0

# gRPC refuses without a word what is beyond this; what is beyond our own, smaller limit is let in and refused
# with a reason by the interceptor, unread.
MAX_TRANSPORT_BYTES = 4 * MAX_REQUEST_BYTES
MAX_METADATA_BYTES = 8 << 10

OPTIONS = (
    ("grpc.max_receive_message_length", MAX_TRANSPORT_BYTES),
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    ("grpc.absolute_max_metadata_size", MAX_METADATA_BYTES),
    ("grpc.max_concurrent_streams", 128),
    # Bytes of -bin headers in their raw form would look to the door's screen like a broken path.
    ("grpc.http2.true_binary", 0),
    # Whoever pings more often than every 10 s without sending anything is cut after two warnings.
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.max_ping_strikes", 2),
    # A process that was stopped or forgot its connection does not hold it for ever.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.max_connection_idle_ms", 300_000),
    ("grpc.so_reuseport", 0),
)


class GrpcServer:
    """Serves the services, health and reflection for as long as `serving` lasts."""

    def __init__(
        self, folder: Path, services: Iterable[Service], binding: Binding, interceptor: ErrorInterceptor
    ) -> None:
        self._folder = folder
        self._services = tuple(services)
        self._binding = binding
        self._interceptor = interceptor
        self._health = health.HealthServicer()
        self._server: grpc.aio.Server | None = None
        self._serving = False

    @property
    def socket_path(self) -> Path:
        return self._folder / SOCKET_NAME

    async def announce(self, *, serving: bool, service: str = "") -> None:
        """What health says from now on, of the whole and each service, or of one: which serves only as long as
        the whole does."""
        if not service:
            self._serving = serving
        serving = serving and self._serving
        status = (
            health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        )
        # A watcher of health that does not read must not hold us up.
        with anyio.move_on_after(ANNOUNCE_SECONDS):
            for name in (service,) if service else ("", *self._names()):
                await self._health.set(name, status)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Answers on the socket meanwhile; health says NOT_SERVING until told otherwise.

        RefusedError (reason FOLDER_NOT_OURS) when others could reach the folder.
        """
        make_private(self._folder)
        check_length(self.socket_path)
        with suppress(FileNotFoundError):
            self.socket_path.unlink()  # of a daemon that died: the caller holds the lock of a single instance
        self._server = server = grpc.aio.server(interceptors=(self._interceptor,), options=OPTIONS)
        for service in self._services:
            self._binding.bind(service, server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection.enable_server_reflection(
            (
                *self._names(),
                health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
                reflection.SERVICE_NAME,
            ),
            server,
        )
        await self.announce(serving=False)
        server.add_insecure_port(f"unix:{self.socket_path}")
        await server.start()
        async with anyio.create_task_group() as tasks:
            # Raises what ended the server, should it ever end unasked: a daemon that is deaf must not live on.
            tasks.start_soon(server.wait_for_termination)
            try:
                yield
            finally:
                await self.stop()
                with suppress(FileNotFoundError):
                    self.socket_path.unlink()

    async def stop(self) -> None:
        """Takes no more calls, gives those at work a moment, and returns once all have ended. A repeat does
        no harm.
        """
        if self._server is not None:
            with anyio.CancelScope(shield=True):
                await self._server.stop(STOP_GRACE_SECONDS)

    def _names(self) -> Iterable[str]:
        return (service.descriptor.full_name for service in self._services)
