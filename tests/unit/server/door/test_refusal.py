import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import anyio
import grpc
import pytest

from aeond.server.door.listening import bound_socket
from aeond.server.door.refusal import PREFACE, receive_exactly, refuse
from tests.support.api_world import ask_raw

MESSAGE = "no " * 100
METADATA = [("grpc-status", "7"), ("grpc-message", MESSAGE), ("reason", "USER_REFUSED")]
SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))


@pytest.fixture
async def refusing_path(tmp_path: Path) -> AsyncIterator[Path]:
    """A socket on which every connection is refused."""
    path = tmp_path / "a.sock"
    loop = asyncio.get_running_loop()

    async def turn_away(connection: socket.socket) -> None:
        with connection:
            await receive_exactly(connection, len(PREFACE))
            with suppress(ConnectionError):
                await refuse(connection, METADATA)

    async def accept(listener: socket.socket) -> None:
        while True:
            connection, _ = await loop.sock_accept(listener)
            tasks.start_soon(turn_away, connection)

    with bound_socket(path) as listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(accept, listener)
            yield path
            tasks.cancel_scope.cancel()


async def test_a_grpc_client_reads_the_refusal(refusing_path: Path) -> None:
    """A real client gets the code, the whole message and the metadata, call after call, however much it sends."""
    with anyio.fail_after(60):
        async with grpc.aio.insecure_channel(f"unix:{refusing_path}") as channel:
            for size in (0, 10, 100_000):
                with pytest.raises(grpc.aio.AioRpcError) as raised:
                    await ask_raw(channel, "/a.B/C", b"x" * size)
                assert raised.value.code() is grpc.StatusCode.PERMISSION_DENIED
                assert raised.value.details() == MESSAGE
                assert ("reason", "USER_REFUSED") in list(raised.value.trailing_metadata())


async def test_settings_and_pings_are_acknowledged(refusing_path: Path) -> None:
    """A peer that only sets up the connection and pings it is answered as HTTP/2 wants."""
    loop = asyncio.get_running_loop()
    with anyio.fail_after(60), socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        await loop.sock_connect(client, str(refusing_path))
        await loop.sock_sendall(client, PREFACE + SETTINGS)
        assert await receive_exactly(client, 9) == SETTINGS
        assert await receive_exactly(client, 9) == bytes((0, 0, 0, 4, 1, 0, 0, 0, 0))
        ping = bytes((0, 0, 8, 6, 0, 0, 0, 0, 0)) + b"12345678"
        await loop.sock_sendall(client, ping)
        assert await receive_exactly(client, 17) == bytes((0, 0, 8, 6, 1, 0, 0, 0, 0)) + b"12345678"


async def test_a_frame_beyond_the_limit_ends_the_conversation(refusing_path: Path) -> None:
    """A frame longer than HTTP/2 allows unasked is not read: the connection is closed."""
    loop = asyncio.get_running_loop()
    with anyio.fail_after(60), socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        await loop.sock_connect(client, str(refusing_path))
        await loop.sock_sendall(client, PREFACE + bytes((255, 255, 255, 0, 0, 0, 0, 0, 1)))
        assert await receive_exactly(client, 9) == SETTINGS
        assert await loop.sock_recv(client, 1) == b""
