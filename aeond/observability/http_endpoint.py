"""Answers `GET /metrics` on a listening socket, one request for each connection."""

import logging
import socket
from collections.abc import Awaitable, Callable
from hmac import compare_digest
from http import HTTPStatus
from typing import Final

import anyio
import h11
from anyio.abc import SocketListener, SocketStream

from aeond.concurrency import connection_boundary
from aeond.errors import AeondError
from aeond.frozen import frozen

PATH: Final = b"/metrics"
MAX_CONNECTIONS: Final = 16
MAX_HEAD_BYTES: Final = 8 << 10
RECEIVE_BYTES: Final = 4 << 10
CONNECTION_SECONDS: Final = 10.0
ACCEPT_PAUSE_SECONDS: Final = 0.5

Page = Callable[[str], Awaitable[tuple[str, bytes]]]
"""Content type and content for an Accept header."""

log = logging.getLogger("aeond.metrics")


@frozen
class _Answer:
    status: HTTPStatus
    content: bytes
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


class HttpEndpoint:
    """Serves a page. With a `key`, requests must carry it as a bearer token.

    At most MAX_CONNECTIONS are open, each for at most CONNECTION_SECONDS. A further one takes the place of the oldest whose
    request has not come, and is closed unanswered if there is none: every user of the machine can connect to a port.
    """

    def __init__(self, page: Page, key: str = "") -> None:
        self._page = page
        self._key = f"Bearer {key}".encode() if key else b""
        self._open = 0
        # Connections whose request has not come, the oldest first.
        self._silent: dict[anyio.CancelScope, None] = {}

    async def serve(self, listener: socket.socket) -> None:
        """Serves until cancelled; closes the listener."""
        async with (
            await SocketListener.from_socket(listener) as connections,
            anyio.create_task_group() as tasks,
        ):
            while True:
                try:
                    stream = await connections.accept()
                except (OSError, anyio.BrokenResourceError) as error:  # as when no file descriptor is left
                    log.warning("cannot accept a connection: %s", error.__cause__ or error)
                    await anyio.sleep(ACCEPT_PAUSE_SECONDS)
                else:
                    tasks.start_soon(self._welcome, stream)

    async def _welcome(self, stream: SocketStream) -> None:
        with connection_boundary(log):
            await self._serve_connection(stream)

    async def _serve_connection(self, stream: SocketStream) -> None:
        async with stream:
            if self._open >= MAX_CONNECTIONS and not self._displaced():
                return
            self._open += 1
            try:
                with anyio.move_on_after(CONNECTION_SECONDS) as scope:
                    self._silent[scope] = None
                    try:
                        await self._converse(stream, scope)
                    finally:
                        self._silent.pop(scope, None)
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                log.debug("a reader of the metrics went away")
            finally:
                self._open -= 1

    def _displaced(self) -> bool:
        """Ends the oldest connection whose request has not come; False if there is none."""
        oldest = next(iter(self._silent), None)
        if oldest is None:
            return False
        del self._silent[oldest]
        oldest.cancel()
        return True

    async def _converse(self, stream: SocketStream, scope: anyio.CancelScope) -> None:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        with_content = True
        try:
            while (event := connection.next_event()) is h11.NEED_DATA:
                connection.receive_data(await stream.receive(RECEIVE_BYTES))
            self._silent.pop(scope, None)
            with_content = not (isinstance(event, h11.Request) and event.method == b"HEAD")
            answer = (
                await self._answer(event)
                if isinstance(event, h11.Request)
                else _refusal(HTTPStatus.BAD_REQUEST, "send a request for /metrics")
            )
        except h11.RemoteProtocolError as error:
            answer = _refusal(HTTPStatus(error.error_status_hint), "this is not a valid HTTP/1.1 request")
        await stream.send(_sent(connection, answer, with_content=with_content))

    async def _answer(self, request: h11.Request) -> _Answer:
        headers = dict(request.headers)
        if self._key and not compare_digest(headers.get(b"authorization", b""), self._key):
            challenge = (("www-authenticate", "Bearer"),)
            return _Answer(HTTPStatus.UNAUTHORIZED, b"send the key as a bearer token\n", headers=challenge)
        if request.target.partition(b"?")[0] != PATH:
            return _refusal(HTTPStatus.NOT_FOUND, "the metrics are at /metrics")
        if request.method != b"GET":
            return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, "only GET is allowed")
        try:
            content_type, content = await self._page(headers.get(b"accept", b"").decode("latin-1"))
        except AeondError as error:
            log.warning("the metrics cannot be read: %s", error.message)
            return _refusal(
                HTTPStatus.SERVICE_UNAVAILABLE, "the metrics cannot be read: see the daemon's log"
            )
        return _Answer(HTTPStatus.OK, content, content_type)


def _refusal(status: HTTPStatus, words: str) -> _Answer:
    return _Answer(status, f"{words}\n".encode())


def _sent(connection: h11.Connection, answer: _Answer, *, with_content: bool) -> bytes:
    headers = [
        ("content-type", answer.content_type),
        ("content-length", str(len(answer.content))),
        ("connection", "close"),
        *answer.headers,
    ]
    if connection.our_state is h11.ERROR:
        # The peer's mistake ended the conversation; the answer is sent by hand.
        connection = h11.Connection(h11.SERVER)
    head = h11.Response(status_code=answer.status, headers=headers, reason=answer.status.phrase)
    content = [h11.Data(data=answer.content)] if with_content else []
    parts = [connection.send(part) for part in (head, *content, h11.EndOfMessage())]
    return b"".join(part for part in parts if part)
