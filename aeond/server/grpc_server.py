"""The inner gRPC server, on a socket that only this user can reach, behind the door."""

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
from aeond.server.door.listening import check_length
from aeond.server.error_interceptor import MAX_REQUEST_BYTES, ErrorInterceptor

SOCKET_NAME = "grpc.sock"
STOP_GRACE_SECONDS = 2.0
ANNOUNCE_SECONDS = 2.0

# gRPC rejects larger requests without an explanation. Our own limit is smaller: the interceptor rejects
# requests above it, undecoded, with a reason.
MAX_TRANSPORT_BYTES = 4 * MAX_REQUEST_BYTES
MAX_METADATA_BYTES = 8 << 10

OPTIONS = (
    ("grpc.max_receive_message_length", MAX_TRANSPORT_BYTES),
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    ("grpc.absolute_max_metadata_size", MAX_METADATA_BYTES),
    # An open call costs about 13 KiB before the daemon reads a byte of its message.
    ("grpc.max_concurrent_streams", 50),
    # To the door's filter, -bin headers in raw form would look like an invalid path.
    ("grpc.http2.true_binary", 0),
    # A client that pings more often than every 10 s without sending data is disconnected after two warnings.
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.max_ping_strikes", 2),
    # A process that was stopped or forgot its connection does not keep it open for ever.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.max_connection_idle_ms", 300_000),
    ("grpc.so_reuseport", 0),
)


class GrpcServer:
    """Serves the services, health and reflection while `serving` is active."""

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
        """Sets the health of the whole server and each service, or of one service, which is healthy only
        while the whole server is.
        """
        if not service:
            self._serving = serving
        serving = serving and self._serving
        status = (
            health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        )
        # A health watcher that does not read must not delay us.
        with anyio.move_on_after(ANNOUNCE_SECONDS):
            for name in (service,) if service else ("", *self._names()):
                await self._health.set(name, status)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serves on the socket while the context is open; health reports NOT_SERVING until set otherwise.

        RefusedError (reason FOLDER_NOT_OURS) if other users could access the folder.
        """
        make_private(self._folder)
        check_length(self.socket_path)
        with suppress(FileNotFoundError):
            self.socket_path.unlink()  # left by a dead daemon: the caller holds the single-instance lock
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
            # Raises the error that ended the server, should it end unexpectedly: a daemon that cannot be
            # reached must not stay alive.
            tasks.start_soon(server.wait_for_termination)
            try:
                yield
            finally:
                await self.stop()
                with suppress(FileNotFoundError):
                    self.socket_path.unlink()

    async def stop(self) -> None:
        """Accepts no new calls, gives running ones a short time, and returns once all have ended.
        Idempotent.
        """
        if self._server is not None:
            with anyio.CancelScope(shield=True):
                await self._server.stop(STOP_GRACE_SECONDS)

    def _names(self) -> Iterable[str]:
        return (service.descriptor.full_name for service in self._services)
