"""Serves an ASGI application on the sockets of a façade, within bounds, until a signal asks for the end."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import anyio
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from aeond.facades.guard import Guard, Refusal
from aeond.facades.listeners import HOST, Places, open_sockets

MAX_CONNECTIONS: Final = 64
MAX_HEAD_BYTES: Final = 16 << 10
HEAD_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 30
# Responses that are being sent have this long to end; then they are cut, as if the client had gone away.
STOP_SECONDS: Final = 5

Ready = Callable[[list[str]], None]
"""Called with the addresses once the façade accepts connections."""


async def serve(application: ASGIApp, places: Places, refusal: Refusal, ready: Ready) -> None:
    """Serves until SIGINT or SIGTERM. FacadeError if a socket cannot be bound.

    The application gets only requests that `Guard` lets pass. At most MAX_CONNECTIONS are open. A further one takes the
    place of the oldest that has not sent a request, and is closed unanswered if there is none: every user of the machine
    can connect to a port without the key. A connection whose next request is not complete up to its body within
    HEAD_SECONDS is closed too.
    """
    with open_sockets(places) as sockets:
        config = uvicorn.Config(
            Guard(application, places.key, refusal),
            http=_BoundedConnection,
            ws="none",
            loop="asyncio",
            lifespan="auto",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # there is no proxy whose word about clients could be believed
            server_header=False,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        server = _Server(config, lambda: ready([_address(one) for one in sockets]))
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_on_signal, server)
            await server.serve(sockets)
            group.cancel_scope.cancel()


def _address(listener: socket.socket) -> str:
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    return f"http://{HOST}:{listener.getsockname()[1]}"


async def _stop_on_signal(server: uvicorn.Server) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            server.should_exit = True


class _Server(uvicorn.Server):
    """Says when it accepts connections, and leaves signals to `serve`: uvicorn would end the process by them."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _BoundedConnection(H11Protocol):
    """A connection of uvicorn with a bound on their number, and on the time that the head of a request takes."""

    began = 0.0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        if len(self.connections) >= MAX_CONNECTIONS:
            silent = [
                one for one in self.connections if isinstance(one, _BoundedConnection) and one.is_silent
            ]
            if silent:
                oldest = min(silent, key=lambda one: one.began)
                oldest.transport.abort()
                self.connections.discard(oldest)  # at once, and not when the loop has closed it
            else:
                transport.abort()
        super().connection_made(transport)
        self.began = self.loop.time()
        self._await_head()

    @property
    def is_silent(self) -> bool:
        """Whether no request has come yet. One that the guard refuses ends the connection."""
        return self.cycle is None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before: Any = self.cycle
        if before is not None and before.response_complete and self._late is None:
            self._await_head()  # the next request on this connection has begun
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()

    def _await_head(self) -> None:
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
