"""The door: accepts all connections for the gRPC server and is the only place that identifies peers.

grpcio can neither use a listening socket inherited from systemd nor identify its peers. The door therefore
accepts connections on the listening socket, reads the peer's identity from the Linux kernel, checks it
against the access rule, and proxies the bytes to the gRPC server on a socket in a private folder. The
upstream end of each proxied connection is bound to an abstract name, which gRPC reports as the peer of a
call; see `callers`.

A daemon has two doors to one gRPC server: callers at the administrative one are administrators.
"""

import asyncio
import errno
import logging
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import anyio
import anyio.abc

from aeond.concurrency import connection_boundary
from aeond.domain.runs.run import Caller
from aeond.errors import AeondError
from aeond.server.door.access_control import AccessRule, Peer, peer_of
from aeond.server.door.callers import Callers
from aeond.server.door.http2_filter import Http2Filter
from aeond.server.door.listening import BACKLOG
from aeond.server.door.proxying import Scratch, splice
from aeond.server.door.refusal import PREFACE, receive_exactly, refuse
from aeond.server.statuses import status_of

log = logging.getLogger("aeond.door")

MAX_REFUSALS = 16  # connections being refused at the same time; further ones are closed without a message
REFUSAL_SECONDS = 5.0
FULL_PAUSE_SECONDS = 0.5

_OUT_OF_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Door:
    """Admits connections while `opened` is active."""

    def __init__(
        self,
        listener: socket.socket,
        inner_path: Path,
        entry: AccessRule,
        callers: Callers,
        *,
        is_admin: bool = False,
    ) -> None:
        self._listener = listener
        self._inner_path = str(inner_path)
        self._entry = entry
        self._scratch = Scratch()
        self._callers = callers
        self._is_admin = is_admin
        self._admitted: Counter[int] = Counter()  # connections by uid
        self._refusals = 0

    def adopt(self, entry: AccessRule) -> None:
        """Applies this rule to new connections; open connections stay open."""
        self._entry = entry

    @property
    def connections(self) -> int:
        """The number of open connections, including those that have not sent anything yet."""
        return self._admitted.total()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Accepts connections while the context is open; on exit, closes those that remain."""
        async with anyio.create_task_group() as connections:
            connections.start_soon(self._accept, connections)
            yield
            connections.cancel_scope.cancel()

    async def _accept(self, connections: anyio.abc.TaskGroup) -> None:
        """Accepts until cancelled, each time all that wait: a client that finds the queue full gets an error. A
        connection that was not accepted by then stays in the queue of the listener, for the next daemon;
        `loop.sock_accept` of Python 3.11 takes it out and fails when both happen at once.
        """
        while True:
            await anyio.wait_readable(self._listener)
            try:
                for _ in range(BACKLOG):
                    connection, _ = self._listener.accept()
                    connection.setblocking(False)
                    connections.start_soon(self._welcome, connection)
            except (BlockingIOError, ConnectionError):
                pass  # no further one waits, or one is gone
            except OSError as error:
                if error.errno not in _OUT_OF_ROOM:
                    raise
                log.warning("cannot accept more connections: %s", error.strerror)
                await anyio.sleep(FULL_PAUSE_SECONDS)

    async def _welcome(self, connection: socket.socket) -> None:
        """Checks one connection and serves it until it closes."""
        with connection_boundary(log), connection:
            try:
                peer = peer_of(connection)
                objection = self._entry.objection(peer, self.connections, self._admitted[peer.uid])
                if objection is None:
                    await self._let_in(connection, peer)
                else:
                    await self._turn_away(connection, peer, objection)
            except OSError as error:
                log.debug("a connection was interrupted: %s", error)

    async def _let_in(self, connection: socket.socket, peer: Peer) -> None:
        self._admitted[peer.uid] += 1
        try:
            if not await self._says_hello(connection):
                log.info("closed a connection of user %d that does not speak HTTP/2", peer.uid)
                return
            with (
                self._callers.naming(Caller(peer.owner, self._is_admin)) as name,
                socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as upstream,
            ):
                upstream.setblocking(False)
                upstream.bind(f"\0{name}")
                loop = asyncio.get_running_loop()
                await loop.sock_connect(upstream, self._inner_path)
                await loop.sock_sendall(upstream, PREFACE)
                await splice(connection, upstream, self._scratch, Http2Filter().admit)
        finally:
            self._admitted[peer.uid] -= 1
            self._admitted += Counter()  # forgets users without connections

    async def _turn_away(self, connection: socket.socket, peer: Peer, objection: AeondError) -> None:
        log.warning(
            "refused a connection of user %d: %s",
            peer.uid,
            objection.reason,
            extra={"kind": "connection_refused"},
        )
        if self._refusals >= MAX_REFUSALS:
            return
        self._refusals += 1
        try:
            status = status_of(objection)
            answer = [
                ("grpc-status", str(status.code.value[0])),
                ("grpc-message", quote(status.message, " ")),
            ]
            with anyio.move_on_after(REFUSAL_SECONDS):
                if await self._says_hello(connection):
                    await refuse(connection, [*answer, *status.metadata])
        finally:
            self._refusals -= 1

    async def _says_hello(self, connection: socket.socket) -> bool:
        """Whether the peer sends the HTTP/2 client preface in time."""
        with anyio.move_on_after(self._entry.handshake_seconds):
            return await receive_exactly(connection, len(PREFACE)) == PREFACE
        return False
