"""Connections, as far as their bounds go; tests/page/test_attacks.py has the requests."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.lowlevel
import pytest

from aeon_web import exchange
from aeon_web.exchange import Connections, Request, Response, Send

GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(answer: Callable[[Request], Awaitable[Response]]) -> AsyncIterator[Streams]:
    """A connection to a server with this answer."""
    async with listening(answer) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        try:
            with anyio.fail_after(30):
                yield reader, writer
        finally:
            writer.close()


@asynccontextmanager
async def listening(
    answer: Callable[[Request], Awaitable[Response]],
) -> AsyncIterator[tuple[asyncio.Server, tuple[str, int]]]:
    """A server with this answer, and its address."""
    connections = Connections(answer, Response, lambda request: request.path == "/known")
    server = await asyncio.start_server(connections.accept, "127.0.0.1", 0)
    try:
        yield server, server.sockets[0].getsockname()[:2]
    finally:
        server.close()
        await connections.close()


async def hello(_request: Request) -> Response:
    return Response(200, {}, b"hello")


async def test_a_connection_is_used_again() -> None:
    """Two requests on one connection get two responses."""
    async with connected(hello) as (reader, writer):
        for _ in range(2):
            writer.write(GET)
            assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET x HTTP/1.1\r\nhost: x\r\n\r\n", b"400"),
    ],
)
async def test_malformed_requests_are_refused(sent: bytes, status: bytes) -> None:
    """Malformed requests are rejected, and the connection ends."""
    async with connected(hello) as (reader, writer):
        writer.write(sent)
        assert (await reader.read())[9:12] == status


async def test_an_idle_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that sends nothing, or not the whole of a request, loses the connection."""
    monkeypatch.setattr(exchange, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(exchange, "REQUEST_SECONDS", 0.01)
    for sent in (b"", b"GET / HT", b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nab"):
        async with connected(hello) as (reader, writer):
            writer.write(sent)
            assert await reader.read() == b""


async def test_a_body_that_is_a_function_ends_with_the_connection() -> None:
    """A body that never ends is cancelled when the other side closes the connection."""
    ended = asyncio.Event()

    async def body(send: Send) -> None:
        try:
            await send(b"one")
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def answer(_request: Request) -> Response:
        return Response(200, {}, body)

    async with connected(answer) as (reader, writer):
        writer.write(GET)
        await reader.readuntil(b"one")
        writer.close()
        await ended.wait()


async def test_a_connection_that_just_came_is_closed_with_the_server() -> None:
    """The end of the server closes connections that it accepted but has not begun to serve."""
    with socket.socket() as early:
        async with listening(hello) as (server, address):
            early.connect(address)
            await anyio.lowlevel.checkpoint()  # accepted in this round, served in one to come
            server.close()
        early.settimeout(30)
        with suppress(ConnectionResetError):
            assert early.recv(1) == b""


async def test_no_more_connections_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """One connection too many is closed at once if all others are the user's, who are served on."""
    monkeypatch.setattr(exchange, "MAX_CONNECTIONS", 1)
    async with listening(hello) as (_, address), asyncio.timeout(30):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(GET.replace(b"/ ", b"/known ", 1))
        await reader.readuntil(b"hello")
        refused, other = await asyncio.open_connection(*address)
        with suppress(ConnectionResetError):
            assert await refused.read() == b""
        writer.write(GET)
        await reader.readuntil(b"hello")
        writer.close()
        other.close()


async def test_strangers_do_not_keep_the_user_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit a connection takes the place of the oldest from which no request of the user came, whatever that
    one has requested.
    """
    monkeypatch.setattr(exchange, "MAX_CONNECTIONS", 3)
    async with listening(hello) as (_, address), asyncio.timeout(30):
        known, user = await asyncio.open_connection(*address)
        user.write(GET.replace(b"/ ", b"/known ", 1))
        await known.readuntil(b"hello")
        strangers = [await asyncio.open_connection(*address) for _ in range(2)]
        for reader, writer in strangers:
            writer.write(GET)
            await reader.readuntil(b"hello")
        late, writer = await asyncio.open_connection(*address)
        writer.write(GET)
        await late.readuntil(b"hello")
        assert await strangers[0][0].read() == b""
        user.write(GET)
        await known.readuntil(b"hello")
        for one in (user, writer, *(writer for _, writer in strangers)):
            one.close()
