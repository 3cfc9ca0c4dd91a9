"""One HTTP request through the gate: h11 speaks the protocol, and everything that a server sends is bounded."""

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

import anyio
import h11

from aeond.capabilities.egress.gate import Gate, Record, Streams
from aeond.capabilities.egress.urls import PORTS, Url, joined, parse_url
from aeond.domain.tools import CALL_CUT, RecordedEffect
from aeond.errors import ToolError
from aeond.frozen import frozen

READ_BYTES: Final = 1 << 16
MAX_HEAD_BYTES: Final = 1 << 16
MAX_INTERIM: Final = 8  # responses of the class 1xx before the real one
MAX_REDIRECTS: Final = 5
SAFE_METHODS: Final = ("GET", "HEAD")
ENCODINGS: Final = ("", "identity", "gzip", "x-gzip")
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_AGENT: Final = "aeond"


@frozen
class Request:
    """The content sent, besides the fields Host, User-Agent, Accept-Encoding, Content-Length and Connection."""

    method: str
    url: Url
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes = b""


@frozen
class Response:
    """What came back. `headers` have names in lower case, equal ones joined by commas; `content` is decoded and at most
    as long as was asked for, `truncated` says that there was more. `location` is the address of a redirection that was not
    followed, `address` the IP address that answered."""

    url: Url
    status: int
    headers: Mapping[str, str]
    content: bytes
    truncated: bool
    address: str
    location: str = ""


async def fetch(gate: Gate, request: Request, record: Record, *, max_bytes: int, seconds: float) -> Response:
    """Sends the request and follows redirections of GET and HEAD within the host, each over a new connection that the
    gate decides on. Every request that was begun is recorded as an effect, whatever came of it. ToolError (reason as
    Gate.opened, HTTP_TIMEOUT, HTTP_BROKEN, ENCODING_UNKNOWN, TOO_MANY_REDIRECTS; CALL_CUT in place of
    HTTP_TIMEOUT, HTTP_BROKEN and ENCODING_UNKNOWN if a request of another method was begun: it may have taken effect)."""
    begun = anyio.Event()
    with anyio.move_on_after(seconds):
        for _ in range(MAX_REDIRECTS + 1):
            response = await _once(gate, request, record, max_bytes, begun)
            follow = _next(request, response)
            if follow is None:
                return response
            request = Request(request.method, follow, request.headers, request.content)
        raise ToolError(
            f"{request.url.host_port} redirects more than {MAX_REDIRECTS} times",
            reason="TOO_MANY_REDIRECTS",
            field="url",
        )
    what = f"{request.url.host_port} did not send the whole response within {seconds:g} s"
    raise _failed(request, what, "HTTP_TIMEOUT", begun=begun.is_set())


def _failed(request: Request, what: str, reason: str, *, begun: bool = True) -> ToolError:
    """The error of a request: whether one that was begun and may change something did so is unknown."""
    if request.method in SAFE_METHODS or not begun:
        return ToolError(what, reason=reason, field="url", retryable=reason != "ENCODING_UNKNOWN")
    return ToolError(f"{what}; the request may have taken effect", reason=CALL_CUT, field="url")


def followed_ports(url: Url) -> Sequence[str]:
    """The `host:port` that a request for the address may connect to: its own, and after plain http that of https."""
    https = Url("https", url.host, PORTS["https"], "/")
    return (url.host_port, https.host_port) if _may_upgrade(url) else (url.host_port,)


def _may_upgrade(url: Url) -> bool:
    return (url.scheme, url.port) == ("http", PORTS["http"])


def _next(request: Request, response: Response) -> Url | None:
    """The address to go on with; None if the response is the result."""
    if not response.location or request.method not in SAFE_METHODS:
        return None
    try:
        url = parse_url(response.location)
    except ToolError:
        return None
    here = request.url
    same = (url.scheme, url.host, url.port) == (here.scheme, here.host, here.port)
    upgraded = _may_upgrade(here) and (url.scheme, url.host, url.port) == ("https", here.host, PORTS["https"])
    return url if same or upgraded else None


async def _once(gate: Gate, request: Request, record: Record, max_bytes: int, begun: anyio.Event) -> Response:
    """`begun` is set before the first byte of the request is sent."""
    url = request.url
    async with gate.opened(url, record) as (streams, address):
        begun.set()
        outcome = "no whole response"
        try:
            response = await _exchanged(streams, address, request, max_bytes)
            more = " or more" if response.truncated else ""
            outcome = f"{response.status}, {len(response.content)} bytes{more}"
        finally:
            record(RecordedEffect("http.requested", str(url), f"{request.method}, {outcome}, from {address}"))
    return response


async def _exchanged(streams: Streams, address: str, request: Request, max_bytes: int) -> Response:
    (reader, writer), url = streams, request.url
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
    try:
        head = h11.Request(method=request.method, target=url.target, headers=_fields(request))
        content = [h11.Data(data=request.content)] if request.content else []
        for part in (head, *content, h11.EndOfMessage()):
            writer.write(connection.send(part) or b"")
        await writer.drain()
        answer = await _head(connection, reader)
        headers = _joined(answer.headers)
        encoding = headers.get("content-encoding", "").strip().lower()
        if encoding not in ENCODINGS:
            what = f"{url.host_port} sends a compression that was not asked for"
            raise _failed(request, what, "ENCODING_UNKNOWN")
        body = _Body(max_bytes, encoding)
        while not body.truncated:
            event = await _event(connection, reader)
            if not isinstance(event, h11.Data):
                break
            body.add(bytes(event.data))
    except (OSError, EOFError, h11.ProtocolError, zlib.error) as error:
        what = f"the exchange with {url.host_port} broke: {type(error).__name__}"
        raise _failed(request, what, "HTTP_BROKEN") from error
    location = _as_sent(headers.get("location", "")) if answer.status_code in _REDIRECTS else ""
    return Response(
        url,
        answer.status_code,
        headers,
        bytes(body.content),
        body.truncated,
        address,
        joined(url, location) if location else "",
    )


def _fields(request: Request) -> list[tuple[str, str]]:
    ours = [
        ("Host", request.url.authority),
        ("User-Agent", _AGENT),
        ("Accept-Encoding", "gzip"),
        ("Connection", "close"),
    ]
    if request.content or request.method not in SAFE_METHODS:
        ours.append(("Content-Length", str(len(request.content))))
    return [*ours, *request.headers]


async def _head(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Response:
    for _ in range(MAX_INTERIM + 1):
        event = await _event(connection, reader)
        if isinstance(event, h11.Response):
            return event
        if not isinstance(event, h11.InformationalResponse):
            break
    raise EOFError


async def _event(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Event | type[h11.PAUSED]:
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(READ_BYTES))
    return event  # type: ignore[return-value]  # h11's stub unites it with NEED_DATA


def _joined(fields: Sequence[tuple[bytes, bytes]]) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in fields:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _as_sent(value: str) -> str:
    """The value of a field whose bytes are UTF-8, as many servers send addresses; others are left as they are."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return value


class _Body:
    """The decoded body as far as it is kept. A compressed body is expanded no further than that."""

    def __init__(self, max_bytes: int, encoding: str) -> None:
        self.content = bytearray()
        self.truncated = False
        self._room = max_bytes
        self._gzip = zlib.decompressobj(wbits=31) if encoding.endswith("gzip") else None

    def add(self, data: bytes) -> None:
        plain = data if self._gzip is None else self._gzip.decompress(data, self._room + 1)
        self.truncated = len(plain) > self._room
        self.content += plain[: self._room]
        self._room -= min(len(plain), self._room)
