import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import pytest

from aeond.server.door.proxying import LEAST_REST_SECONDS, Scratch, _Half, splice
from aeond.server.door.refusal import receive_exactly

MUCH = bytes(range(256)) * 40_000  # 10 MB


def admit(data: bytes) -> bytes | None:
    return None if b"\xff" * 9 in data else data


@asynccontextmanager
async def spliced(
    stall_seconds: float = 60.0,
) -> AsyncIterator[tuple[socket.socket, socket.socket, anyio.Event]]:
    """The outer ends of two connections whose inner ends are spliced, and the end of the splice."""
    client, client_end = socket.socketpair()
    server, server_end = socket.socketpair()
    client_end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    done = anyio.Event()

    async def run() -> None:
        await splice(client_end, server_end, Scratch(), admit, stall_seconds)
        done.set()

    with client, client_end, server, server_end, anyio.fail_after(120):
        for end in (client, client_end, server, server_end):
            end.setblocking(False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            yield client, server, done
            tasks.cancel_scope.cancel()


async def test_bytes_arrive_both_ways_at_once() -> None:
    """Ten megabytes each way, sent at the same time, arrive as they were sent."""
    loop = asyncio.get_running_loop()
    received = {}

    async def receive(end: socket.socket, name: str) -> None:
        received[name] = await receive_exactly(end, len(MUCH))

    async with spliced() as (client, server, _), anyio.create_task_group() as tasks:
        tasks.start_soon(receive, server, "server")
        tasks.start_soon(receive, client, "client")
        tasks.start_soon(loop.sock_sendall, client, MUCH)
        tasks.start_soon(loop.sock_sendall, server, MUCH)
    assert received == {"server": MUCH, "client": MUCH}


@pytest.mark.parametrize("closes", ["client", "server"])
async def test_bytes_sent_before_the_end_arrive(closes: str) -> None:
    """When one end closes, the other one gets the last bytes and then the end."""
    loop = asyncio.get_running_loop()
    async with spliced() as (client, server, done):
        ending, other = (client, server) if closes == "client" else (server, client)
        await loop.sock_sendall(ending, b"last words")
        ending.close()
        assert await receive_exactly(other, 10) == b"last words"
        assert await loop.sock_recv(other, 1) == b""
        await done.wait()


async def test_a_slow_reader_holds_up_the_sender() -> None:
    """While one end reads nothing, only a bounded number of bytes is taken from the other."""
    loop = asyncio.get_running_loop()
    taken = 0
    async with spliced() as (client, server, _):
        with anyio.move_on_after(0.5):
            while True:
                await loop.sock_sendall(client, MUCH[:4096])
                taken += 4096
        assert 0 < taken < 2_000_000
        assert await receive_exactly(server, taken) is not None


async def test_an_end_that_takes_nothing_is_dropped() -> None:
    """An end that is open and never reads loses its connection once it has stalled for too long."""
    async with spliced(stall_seconds=0.05) as (client, _server, done):
        with suppress(ConnectionError):
            await asyncio.get_running_loop().sock_sendall(client, MUCH)
        await done.wait()


async def test_a_lingering_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unread bytes keep a half-closed connection open only for a short time."""
    monkeypatch.setattr("aeond.server.door.proxying.LINGER_SECONDS", 0.05)
    async with spliced() as (client, server, done):
        await asyncio.get_running_loop().sock_sendall(server, MUCH[:40_000])  # more than the socket takes
        server.close()
        await done.wait()
        client.close()


async def test_bytes_that_are_filtered_out_end_the_connection() -> None:
    """Bytes of the client that are not to go on do not reach the server, and both ends are cut."""
    loop = asyncio.get_running_loop()
    async with spliced() as (client, server, done):
        await loop.sock_sendall(server, b"\xff" * 9)
        assert await receive_exactly(client, 9) == b"\xff" * 9
        await loop.sock_sendall(client, b"\xff" * 9)
        assert await loop.sock_recv(server, 1) == b""
        await done.wait()


async def test_cancelling_cuts_both_ends() -> None:
    """When the door closes, both ends see the end of the connection at once."""
    async with spliced() as (client, server, _):
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(client, b"hello")
        assert await receive_exactly(server, 5) == b"hello"
        inner_client, inner_server = client.dup(), server.dup()
    with inner_client, inner_server:
        for end in (inner_client, inner_server):
            end.setblocking(True)
            assert end.recv(1) == b""


async def test_early_bytes_of_the_server_are_kept() -> None:
    """Data sent by the server before the client's end is open reaches the client."""
    half = _Half(Scratch(), anyio.Event(), 1.0)
    half.send(b"settings")
    client, door = socket.socketpair()
    with client, door, anyio.fail_after(60):
        client.setblocking(False)
        await asyncio.get_running_loop().connect_accepted_socket(lambda: half, door)
        assert await receive_exactly(client, 8) == b"settings"
        half.drop()
        await half.gone.wait()


class RecordingTransport(asyncio.Transport):
    """Records whether it is being read."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def is_reading(self) -> bool:
        return self.calls[-1] == "resume"

    def pause_reading(self) -> None:
        self.calls.append("pause")

    def resume_reading(self) -> None:
        self.calls.append("resume")


@pytest.mark.parametrize("held", [False, True])
async def test_a_client_whose_bytes_take_long_to_filter_rests(held: bool) -> None:
    """A client that keeps the loop busy with filtering is not read for a while, and then only if the other end
    accepts more."""
    half, transport = _Half(Scratch(), anyio.Event(), 1.0), RecordingTransport()
    half.connection_made(transport)
    half.begin()
    half._take_rest(LEAST_REST_SECONDS / 2)
    assert transport.is_reading()
    half._take_rest(LEAST_REST_SECONDS)
    assert not transport.is_reading()
    half.begin()  # also when the other end accepts more meanwhile
    assert not transport.is_reading()
    if held:
        half.hold()
    half._end_rest()
    assert transport.is_reading() is not held
    half.begin()
    assert transport.is_reading()


async def test_each_connection_makes_the_rests_longer() -> None:
    """A rest is in proportion to the time that filtering took and to the connections that share the loop."""
    half, transport = _Half(Scratch(), anyio.Event(), 1.0, busy), RecordingTransport()
    half.other, half._scratch.connections = _Half(Scratch(), anyio.Event(), 1.0), 1_000_000
    half.connection_made(transport)
    half.begin()
    half.buffer_updated(10)
    assert not transport.is_reading()
    half.connection_lost(None)


def busy(data: bytes) -> bytes:
    return bytes(sorted(data * 1_000))
