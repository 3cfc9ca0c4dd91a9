"""Messages to and from MCP servers: lines over a socket, or requests to an address.

Everything that a server sends is bounded: a message that is too long ends the connection.
"""

import asyncio
import contextlib
import logging
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import anyio
import httpx2
from anyio.abc import ObjectReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import ReadStream, TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.jsonrpc import jsonrpc_message_adapter

from aeond.errors import ToolError
from aeond.frozen import frozen
from aeond.ports import Clock

MAX_MESSAGE_BYTES: Final = 4 << 20
MAX_ABANDONED: Final = 256
MIN_KEY_CHARS: Final = 8  # a shorter key is no secret, and may be a part of any word
OBEY_SECONDS: Final = 5.0
"""How long a server may take to stop a call that was cancelled."""

CONNECT_SECONDS: Final = 10.0
_LOCAL: Final = (
    "its host has an address that is not public: set `local = true` in the server's section to allow that"
)
Check = Callable[[str], Awaitable[str]]
"""The IP address to which a request to a URL may go. ToolError (reason ADDRESS_NOT_PUBLIC for one of this machine or its
network)."""
Message = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError

# Their records contain what servers send.
for _name in ("mcp", "client", "httpx2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class Wire:
    """An open connection: its messages, and an event that is set when it is lost."""

    def __init__(self, streams: TransportStreams, last_words: Callable[[], Awaitable[str]]) -> None:
        self.streams = streams
        self.lost = anyio.Event()
        self._last_words = last_words
        self._problem = ""

    def fail(self, problem: str) -> None:
        """Ends the connection. `problem` says why; "" leaves that to the server's last words."""
        self._problem = self._problem or problem
        self.lost.set()

    async def why(self) -> str:
        return self._problem or await self._last_words()


class AbandonedRequests:
    """The requests that were cancelled, to notice a server that works on them nevertheless."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._deadlines: OrderedDict[object, float] = OrderedDict()

    def sent(self, message: Message) -> None:
        """Notes a message to the server."""
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._deadlines[(message.params or {}).get("requestId")] = self._clock.monotonic() + OBEY_SECONDS
            while len(self._deadlines) > MAX_ABANDONED:
                self._deadlines.popitem(last=False)

    def shows_disobedience(self, message: Message) -> bool:
        """Whether the message shows that the server still worked on a request after the time to stop."""
        request: object = None
        if isinstance(message, JSONRPCResponse):
            request = message.id
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/progress":
            request = (message.params or {}).get("progressToken")
        if not isinstance(request, str | int):
            return False
        return self._clock.monotonic() > self._deadlines.get(request, float("inf"))


@contextlib.asynccontextmanager
async def socket_wire(
    ours: socket.socket, last_words: Callable[[], Awaitable[str]], clock: Clock
) -> AsyncIterator[Wire]:
    """The messages of a server at the other end of a socket, one JSON text on each line."""
    reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_MESSAGE_BYTES)
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    wire = Wire((incoming, outgoing), last_words)
    lines = _Lines(reader, writer, AbandonedRequests(clock), wire.fail)
    try:
        async with to_session, incoming, outgoing, from_session, anyio.create_task_group() as tasks:
            tasks.start_soon(lines.receive, to_session)
            tasks.start_soon(lines.send, from_session)
            yield wire
            tasks.cancel_scope.cancel()
    finally:
        writer.transport.abort()


@frozen
class _Lines:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    abandoned: AbandonedRequests
    fail: Callable[[str], None]

    async def receive(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        try:
            async with to_session:
                while line := await self.reader.readline():
                    message = _parsed(line)
                    if message is None:  # servers print other things, too
                        continue
                    if self.abandoned.shows_disobedience(message):
                        self.fail(f"it continued a cancelled call for more than {OBEY_SECONDS:g} seconds")
                        return
                    await to_session.send(SessionMessage(message))
        except ValueError:
            self.fail(f"it sent a message of more than {MAX_MESSAGE_BYTES >> 20} MiB")
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # its last words say more
        finally:
            self.fail("")

    async def send(self, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        try:
            async for one in from_session:
                self.abandoned.sent(one.message)
                self.writer.write(
                    one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                )
                await self.writer.drain()
        except OSError:
            self.fail("")


def _parsed(line: bytes) -> Message | None:
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        return None


@contextlib.asynccontextmanager
async def http_wire(url: str, key: Callable[[], str], check: Check) -> AsyncIterator[Wire]:
    """The messages of a server at an address (streamable HTTP), as far as `check` allows. `key` gives the bearer token ("" for
    none), which is removed from what the server sends."""
    token = key()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = GatedTransport(check)

    async def last_words() -> str:
        return transport.refusal or f"{url} does not respond"

    async with (
        httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
            event_hooks={"response": [_bound]},
            transport=transport,
            trust_env=False,
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
    ):
        incoming, outgoing = streams
        yield Wire((_KeylessMessages(incoming, token) if token else incoming, outgoing), last_words)


class _KeylessMessages(ObjectReceiveStream[SessionMessage | Exception]):
    """Incoming messages without the key, which a server may repeat, in an error for example: they reach the journal, the
    log and prompts."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception], key: str) -> None:
        self._inner = inner
        self._key = key

    @property
    def last_context(self) -> object:
        """What the SDK reads of its own streams."""
        return getattr(self._inner, "last_context", None)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def receive(self) -> SessionMessage | Exception:
        received = await self._inner.receive()
        if isinstance(received, Exception):
            return received
        match received.message:
            case JSONRPCResponse() as message:
                changed: Message = message.model_copy(
                    update={"result": without_key(message.result, self._key)}
                )
            case JSONRPCError() as message:
                error = message.error
                parts = {"message": error.message, "data": error.data}
                changed = message.model_copy(
                    update={"error": error.model_copy(update=without_key(parts, self._key))}
                )
            case message:
                changed = message.model_copy(update={"params": without_key(message.params, self._key)})
        return replace(received, message=changed)


def without_key(value: Any, key: str) -> Any:
    """A JSON value with the key replaced in every text and in every name of a field."""
    if len(key) < MIN_KEY_CHARS:
        return value
    if isinstance(value, str):
        return value.replace(key, "[key]")
    if isinstance(value, Mapping):
        return {without_key(name, key): without_key(part, key) for name, part in value.items()}
    if isinstance(value, Sequence):
        return [without_key(part, key) for part in value]
    return value


class GatedTransport(httpx2.AsyncHTTPTransport):
    """Sends each request to the IP address that was checked for it. `refusal` is the reason of the last one that was not
    sent ("": none).

    The library connects to that address and resolves nothing; the server still proves the name of its host by TLS.
    """

    def __init__(self, check: Check) -> None:
        super().__init__(trust_env=False)
        self._check = check
        self.refusal = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            address = await self._check(str(request.url))
        except ToolError as error:
            self.refusal = _LOCAL if error.reason == "ADDRESS_NOT_PUBLIC" else error.message
            raise httpx2.ConnectError(self.refusal) from error
        self.refusal = ""
        request.extensions = {**request.extensions, "sni_hostname": request.url.raw_host.decode("ascii")}
        request.url = request.url.copy_with(host=address)  # the field Host is set already
        return await super().handle_async_request(request)


async def _bound(response: httpx2.Response) -> None:
    """Bounds bodies that the SDK reads whole; it bounds the events of a stream itself. The words of a status, which errors
    repeat, become the usual ones."""
    response.extensions.pop("reason_phrase", None)
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        response.stream = _BoundedBody(response.stream)


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, body: Any) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._body:
            size += len(piece)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.ReadError(f"a response of more than {MAX_MESSAGE_BYTES >> 20} MiB")
            yield piece

    async def aclose(self) -> None:
        await self._body.aclose()
