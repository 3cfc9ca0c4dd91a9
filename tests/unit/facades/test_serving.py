"""A façade's server, with real sockets."""

import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import h11
import httpx
import pytest
from anyio.abc import ByteStream
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from aeond.facades import serving
from aeond.facades.listeners import Places
from aeond.facades.serving import serve

KEY = "a key of sixteen characters or more"


async def echo(request: Request) -> Response:
    return Response(await request.body())


def refusal(status: int, reason: str, message: str) -> bytes:
    return json.dumps({"reason": reason, "message": message}).encode()


@asynccontextmanager
async def served(places: Places) -> AsyncIterator[list[str]]:
    """The addresses of a façade, which is stopped by a signal."""
    application = Starlette(routes=[Route("/echo", echo, methods=["POST"])])
    ready = anyio.Event()
    addresses: list[str] = []

    def started(found: list[str]) -> None:
        addresses.extend(found)
        ready.set()

    async with anyio.create_task_group() as group:
        group.start_soon(partial(serve, application, places, refusal, started))
        with anyio.fail_after(30):
            await ready.wait()
        yield addresses
        signal.raise_signal(signal.SIGTERM)


def client_of(path: Path) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(path)), base_url="http://aeond")


async def ends(stream: ByteStream) -> bytes:
    """All that the server still sends until it closes the connection."""
    found = b""
    with anyio.fail_after(30):
        try:
            while True:
                found += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return found


async def test_both_sockets_are_served_until_a_signal(tmp_path: Path) -> None:
    """The Unix socket needs no key and the port needs it; SIGTERM ends both, and the socket is removed."""
    path = tmp_path / "facade.sock"
    async with served(Places(path, 0, KEY)) as addresses:
        assert addresses[0] == f"unix:{path}"
        async with client_of(path) as unix, httpx.AsyncClient(base_url=addresses[1]) as port:
            assert (await unix.post("/echo", content=b"hello")).content == b"hello"
            assert (await port.post("/echo", content=b"hello")).json()["reason"] == "invalid_api_key"
            with_key = {"authorization": f"Bearer {KEY}"}
            assert (await port.post("/echo", content=b"hello", headers=with_key)).content == b"hello"
    assert not path.exists()


async def test_a_connection_that_sends_no_request_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The head of the first and of every further request has a deadline."""
    path = tmp_path / "facade.sock"
    async with served(Places(path)):
        with monkeypatch.context() as brief:
            brief.setattr(serving, "HEAD_SECONDS", 0.05)
            async with await anyio.connect_unix(path) as silent:
                assert await ends(silent) == b""
        async with await anyio.connect_unix(path) as slow:
            await slow.send(REQUEST)
            assert (await slow.receive()).startswith(b"HTTP/1.1 200")
            # Not before, because the first head must be in time.
            monkeypatch.setattr(serving, "HEAD_SECONDS", 0.05)
            await slow.send(b"POST /echo")
            assert await ends(slow) == b""


REQUEST = b"POST /echo HTTP/1.1\r\nhost: aeond\r\ncontent-length: 0\r\n\r\n"


async def test_a_head_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """A head above its limit ends the connection with an error."""
    path = tmp_path / "facade.sock"
    async with served(Places(path)), await anyio.connect_unix(path) as stream:
        await stream.send(b"POST /echo HTTP/1.1\r\nx: " + b"y" * (serving.MAX_HEAD_BYTES + 65_536))
        assert (await ends(stream)).startswith(b"HTTP/1.1 400")


async def test_connections_beyond_the_limit_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More connections than the limit are closed unanswered, and one that closes makes room for another."""
    path = tmp_path / "facade.sock"
    monkeypatch.setattr(serving, "MAX_CONNECTIONS", 1)
    async with served(Places(path)):
        async with await anyio.connect_unix(path) as first:
            await first.send(REQUEST)
            assert (await first.receive()).startswith(b"HTTP/1.1 200")
            async with await anyio.connect_unix(path) as second:
                assert await ends(second) == b""
            await first.send(REQUEST.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
            assert (await ends(first)).startswith(b"HTTP/1.1 200")
        async with client_of(path) as unix:
            assert (await unix.post("/echo", content=b"hello")).content == b"hello"


async def test_silent_connections_do_not_keep_others_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections that anybody can open without the key, as many as there are places, shut out no client, neither of the
    port nor of the Unix socket; a client that has sent a request keeps its connection.
    """
    monkeypatch.setattr(serving, "MAX_CONNECTIONS", 4)
    path = tmp_path / "facade.sock"
    async with served(Places(path, 0, KEY)) as addresses, AsyncExitStack() as opened:
        port = int(addresses[1].rpartition(":")[2])
        client = await opened.enter_async_context(await anyio.connect_unix(path))
        await client.send(REQUEST)
        assert (await client.receive()).startswith(b"HTTP/1.1 200")
        silent = [
            await opened.enter_async_context(await anyio.connect_tcp("127.0.0.1", port)) for _ in range(8)
        ]
        async with client_of(path) as unix:
            assert (await unix.post("/echo", content=b"hello")).content == b"hello"
        with_key = {"authorization": f"Bearer {KEY}"}
        async with httpx.AsyncClient(base_url=addresses[1], headers=with_key) as program:
            assert (await program.post("/echo", content=b"hello")).content == b"hello"
        assert await ends(silent[0]) == b""
        await client.send(REQUEST)
        assert (await client.receive()).startswith(b"HTTP/1.1 200")


async def test_bytes_that_are_no_request_are_refused(tmp_path: Path) -> None:
    """Bytes that are not HTTP get status 400 and the end of the connection."""
    path = tmp_path / "facade.sock"
    async with served(Places(path)), await anyio.connect_unix(path) as stream:
        await stream.send(b"\x00\x01\x02\r\n\r\n")
        reader = h11.Connection(h11.CLIENT)
        reader.send(h11.Request(method="GET", target="/", headers=[("host", "aeond")]))
        reader.receive_data(await ends(stream))
        response = reader.next_event()
        assert isinstance(response, h11.Response)
        assert response.status_code == 400
