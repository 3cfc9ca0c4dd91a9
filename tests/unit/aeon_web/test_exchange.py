"""Connections, as far as their bounds go; tests/page/test_attacks.py has the requests."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import pytest

from aeon_web import exchange
from aeon_web.exchange import Connections, Request, Response, Send

GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(answer: Callable[[Request], Awaitable[Response]]) -> AsyncIterator[Streams]:
    """A connection to a server with this answer."""
    connections = Connections(answer, Response)
    server = await asyncio.start_server(connections.serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    try:
        with anyio.fail_after(30):
            yield reader, writer
    finally:
        writer.close()
        server.close()


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
    """What is no request is refused, and the connection ends."""
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
