"""HTTP requests and responses, and the connections that carry them: h11 parses, asyncio moves the bytes.

Everything from the other side is bounded: heads, bodies, the number of connections, and each wait.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import h11

MAX_HEAD_BYTES = 16 << 10
MAX_BODY_BYTES = 1 << 20
MAX_CONNECTIONS = 64
# An idle connection, a request that arrives slowly, and a reader that does not take what is sent.
IDLE_SECONDS = 30.0
REQUEST_SECONDS = 10.0
SEND_SECONDS = 30.0
# The head is measured after each read, so that it may exceed its limit by this much.
_READ_BYTES = 4 << 10

Send = Callable[[bytes], Awaitable[None]]
"""Sends a piece of a body; returns once the other side has taken enough of it."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its complete body. Names of headers are in lower case; of repeated ones the last is kept. The path
    is as it was sent, without the query.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    """A response. A body that is a function is sent as it comes, until the function returns or the other side closes the
    connection, which cancels it.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Callable[[Send], Awaitable[None]] = b""


Answer = Callable[[Request], Awaitable[Response]]


class Connections:
    """Serves every connection until it is idle. `answer` gives the response to a request; `refused` gives the response
    to one that is malformed or too large, from its status; `is_known` says whether a request comes from the user.

    Every user of the machine can connect. Once there are too many connections, a further one therefore takes the place of
    the oldest from which no request of the user came.
    """

    def __init__(
        self, answer: Answer, refused: Callable[[int], Response], is_known: Callable[[Request], bool]
    ) -> None:
        self._answer = answer
        self._refused = refused
        self._is_known = is_known
        self._tasks: set[asyncio.Task[None]] = set()
        self._strangers: dict[asyncio.Task[None], None] = {}  # the oldest first
        self._closed = False

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Starts to serve a connection; closes it at once if there are too many of the user's, or after `close`.

        Not a coroutine, which asyncio would run in a task of its own: one that is cancelled before it starts would
        never close the connection.
        """
        if self._closed or (len(self._tasks) >= MAX_CONNECTIONS and not self._displaced()):
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer))  # noqa: TID251 - kept and ended by close
        self._tasks.add(task)
        self._strangers[task] = None
        task.add_done_callback(lambda done: self._ended(done, writer.transport))

    async def close(self) -> None:
        """Ends all connections; none is open when it returns. The server must not listen any longer."""
        self._closed = True
        for _ in range(3):  # asyncio hands over a connection in the third round after its accept
            await asyncio.sleep(0)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, h11.ProtocolError):
            await self._converse(reader, writer)

    def _displaced(self) -> bool:
        """Ends the oldest connection of a stranger; False if there is none."""
        oldest = next(iter(self._strangers), None)
        if oldest is None:
            return False
        del self._strangers[oldest]
        oldest.cancel()
        return True

    def _ended(self, task: asyncio.Task[None], transport: asyncio.WriteTransport) -> None:
        self._tasks.discard(task)
        self._strangers.pop(task, None)
        transport.abort() if transport.get_write_buffer_size() else transport.close()
        if not task.cancelled() and (error := task.exception()) is not None:
            context = {"message": "A connection ended with an error", "exception": error}
            task.get_loop().call_exception_handler(context)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        while True:
            try:
                request = await _request(protocol, reader)
            except h11.RemoteProtocolError as error:
                await _respond(protocol, reader, writer, self._refused(error.error_status_hint))
                return
            if request is None:
                return
            if (task := asyncio.current_task()) in self._strangers and self._is_known(request):
                del self._strangers[task]
            await _respond(protocol, reader, writer, await self._answer(request))
            if protocol.our_state is h11.MUST_CLOSE or protocol.their_state is h11.MUST_CLOSE:
                return
            protocol.start_next_cycle()


async def _request(protocol: h11.Connection, reader: asyncio.StreamReader) -> Request | None:
    """The next request; None when the connection is closed. RemoteProtocolError if it is malformed or too large."""
    async with asyncio.timeout(IDLE_SECONDS):
        head = await _next(protocol, reader)
    if not isinstance(head, h11.Request):
        return None
    body = bytearray()
    async with asyncio.timeout(REQUEST_SECONDS):
        while isinstance(part := await _next(protocol, reader), h11.Data):
            body += part.data
            if len(body) > MAX_BODY_BYTES:
                raise h11.RemoteProtocolError("the body is too large", error_status_hint=413)
    target = head.target.decode("ascii")
    if not target.startswith("/"):
        raise h11.RemoteProtocolError("the target is no path", error_status_hint=400)
    headers = {name.decode("ascii"): value.decode("latin-1") for name, value in head.headers}
    return Request(head.method.decode("ascii"), target.partition("?")[0], headers, bytes(body))


async def _next(protocol: h11.Connection, reader: asyncio.StreamReader) -> Any:
    while (event := protocol.next_event()) is h11.NEED_DATA:
        protocol.receive_data(await reader.read(_READ_BYTES))
    return event


async def _respond(
    protocol: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, response: Response
) -> None:
    async def send(event: Any) -> None:
        writer.write(protocol.send(event) or b"")
        async with asyncio.timeout(SEND_SECONDS):
            await writer.drain()

    headers = list(response.headers.items())
    if isinstance(response.body, bytes):
        headers.append(("content-length", str(len(response.body))))
        await send(h11.Response(status_code=response.status, headers=headers))
        await send(h11.Data(data=response.body))
        await send(h11.EndOfMessage())
        return
    await send(h11.Response(status_code=response.status, headers=[*headers, ("connection", "close")]))
    body = response.body
    async with asyncio.TaskGroup() as group:

        async def relay() -> None:
            with suppress(OSError, TimeoutError):
                await body(lambda piece: send(h11.Data(data=piece)))
                await send(h11.EndOfMessage())

        relaying = group.create_task(relay())
        leaving = group.create_task(_closed(reader, relaying))
        relaying.add_done_callback(lambda _: leaving.cancel())


async def _closed(reader: asyncio.StreamReader, relaying: asyncio.Task[None]) -> None:
    """Cancels the body when the other side closes the connection, or sends something during it."""
    with suppress(OSError):
        await reader.read(1)
    relaying.cancel()
