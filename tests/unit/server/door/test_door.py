import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.lowlevel
import grpc
import pytest

from aeond.api.v1 import daemon_pb2, memory_pb2, parts_pb2, runs_pb2
from aeond.domain.runs.run import Caller
from aeond.errors import AeondError, RefusedError
from aeond.server.door import door as door_module
from aeond.server.door.access_control import AccessRule, Peer, peer_of
from aeond.server.door.callers import Callers
from aeond.server.door.door import Door
from aeond.server.door.listening import BACKLOG, bound_socket
from tests.support.api_world import DEADLINE_SECONDS, Stubs, api_world, refused
from tests.support.http2_frames import PREFACE, conversation
from tests.support.surfaces import wait_until

STATUS = daemon_pb2.GetStatusRequest()


class NobodyEnters(AccessRule):
    """Rejects every peer, as if its user were not allowed."""

    def objection(self, peer: Peer, connections: int, own_connections: int) -> AeondError | None:
        return RefusedError(f"User {peer.uid} may not.", reason="USER_REFUSED")


@dataclass
class EchoServer:
    """Stands behind a door and gives back what it gets; knows as whom its peers came."""

    path: Path
    names: list[str]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        async def answer(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                raw = stream.extra(anyio.abc.SocketAttribute.raw_socket)
                self.names.append(raw.getpeername()[1:].decode())
                async for data in stream:
                    await stream.send(data)

        async with (
            await anyio.create_unix_listener(self.path) as listener,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(listener.serve, answer)
            yield
            tasks.cancel_scope.cancel()


async def test_the_door_knows_who_called(tmp_path: Path) -> None:
    """A run is created in the name of the process at the other end of the connection."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            request = runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="hello"))
            created = await Stubs(channel).runs.CreateRun(request)
            assert (created.run.owner.uid, created.run.owner.pid) == (os.getuid(), os.getpid())


async def test_the_upstream_name_tells_user_and_process_and_cannot_be_taken(tmp_path: Path) -> None:
    """The server sees each connection under an abstract name with user and process that cannot be bound
    twice, and that is removed when the connection ends.
    """
    echo = EchoServer(tmp_path / "inner.sock", [])
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        stack.enter_context(anyio.fail_after(DEADLINE_SECONDS))
        listener = stack.enter_context(bound_socket(tmp_path / "a.sock"))
        await stack.enter_async_context(echo.serving())
        callers = Callers()
        door = Door(listener, echo.path, AccessRule(), callers)
        await stack.enter_async_context(door.opened())
        with socket.socket(socket.AF_UNIX) as client, socket.socket(socket.AF_UNIX) as thief:
            client.setblocking(False)
            await loop.sock_connect(client, str(tmp_path / "a.sock"))
            await loop.sock_sendall(client, PREFACE)
            assert await loop.sock_recv(client, 100) == PREFACE
            (name,) = echo.names
            assert name.startswith("aeond/")
            assert name.endswith(f"/{os.getuid()}/{os.getpid()}")
            assert callers.of(f"unix-abstract:{name}") == Caller(peer_of(client).owner)
            with pytest.raises(OSError, match="in use"):
                thief.bind(f"\0{name}")
        await wait_until(lambda: door.connections == 0)
        with pytest.raises(RefusedError):
            callers.of(f"unix-abstract:{name}")


async def test_a_call_past_the_door_is_refused(tmp_path: Path) -> None:
    """A client that connects directly to the inner socket is rejected."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world:
            inner = world.socket_path.parent / "inner" / "grpc.sock"
            async with (
                grpc.aio.insecure_channel(f"unix:{inner}") as channel,
                refused(grpc.StatusCode.PERMISSION_DENIED, "NOT_THROUGH_DOOR"),
            ):
                await Stubs(channel).daemon.GetStatus(STATUS)


async def test_all_connections_that_wait_are_accepted_at_once(tmp_path: Path) -> None:
    """A full queue of connections is empty again after few turns of the event loop, so that clients that come
    in crowds find room.
    """
    with (
        anyio.fail_after(DEADLINE_SECONDS),
        bound_socket(tmp_path / "a.sock") as listener,
        ExitStack() as stack,
    ):
        door = Door(
            listener,
            tmp_path / "none.sock",
            AccessRule(max_connections=BACKLOG, max_connections_per_user=BACKLOG),
            Callers(),
        )
        async with door.opened():
            for _ in range(BACKLOG):
                client = stack.enter_context(socket.socket(socket.AF_UNIX))
                client.setblocking(False)
                client.connect(str(tmp_path / "a.sock"))
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            assert door.connections == BACKLOG


async def test_a_user_that_is_not_allowed_reads_why(tmp_path: Path) -> None:
    """A refused user's client gets PERMISSION_DENIED with a reason on every kind of call."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path, entry=NobodyEnters()) as world, world.channel() as channel:
            client = Stubs(channel)
            async with refused(grpc.StatusCode.PERMISSION_DENIED, "USER_REFUSED"):
                await client.daemon.GetStatus(STATUS)
            async with refused(grpc.StatusCode.PERMISSION_DENIED, "USER_REFUSED"):
                async for _ in client.runs.WatchRun(runs_pb2.WatchRunRequest(run_id="run-0001")):
                    pass


async def test_a_new_rule_judges_who_comes_next(tmp_path: Path) -> None:
    """With another rule for coming in, who is in stays in, and who comes is judged by the new one."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as first, world.channel() as second:
            await Stubs(first).daemon.GetStatus(STATUS)
            world.api.adopt(NobodyEnters())
            async with refused(grpc.StatusCode.PERMISSION_DENIED, "USER_REFUSED"):
                await Stubs(second).daemon.GetStatus(STATUS)
            assert (await Stubs(first).daemon.GetStatus(STATUS)).load.connections == 1


async def test_connections_beyond_the_cap_are_reported_and_come_in_later(tmp_path: Path) -> None:
    """One connection too many gets RESOURCE_EXHAUSTED; those that are in notice nothing; once one leaves,
    the next comes in."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with (
            api_world(tmp_path, entry=AccessRule(max_connections=2)) as world,
            AsyncExitStack() as stack,
        ):
            channels = [await stack.enter_async_context(world.channel()) for _ in range(3)]
            for channel in channels[:2]:
                await Stubs(channel).daemon.GetStatus(STATUS)
            async with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_CONNECTIONS"):
                await Stubs(channels[2]).daemon.GetStatus(STATUS)
            status = await Stubs(channels[1]).daemon.GetStatus(STATUS)
            assert status.load.connections == 2
            await channels[0].close()
            answer = None
            while answer is None:  # each try is a call, and waits for its answer
                with suppress(grpc.RpcError):
                    answer = await Stubs(channels[2]).daemon.GetStatus(STATUS, wait_for_ready=True)


async def test_a_connection_at_the_end_is_left_to_the_next_daemon(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection that comes while the door closes stays in the queue of the listener, whatever comes first."""
    loop = asyncio.get_running_loop()
    with anyio.fail_after(DEADLINE_SECONDS), bound_socket(tmp_path / "a.sock") as listener:
        door = Door(listener, tmp_path / "inner.sock", AccessRule(), Callers())
        waker, woken = socket.socketpair()
        with waker, woken, socket.socket(socket.AF_UNIX) as client, anyio.CancelScope() as scope:
            async with door.opened():
                loop.add_reader(woken, scope.cancel)
                await anyio.wait_all_tasks_blocked()
                waker.send(b"x")  # both are ready at the next look, and this one is first
                client.connect(str(tmp_path / "a.sock"))
                await anyio.sleep_forever()
        loop.remove_reader(woken)
        connection, _ = listener.accept()
        connection.close()
    assert not caplog.records


BAD_PATH = b"".join(conversation([("/a.B/CCCC", b"")])).replace(b"/a.B/CCCC", b"/a.B/\xe3CCC")


@pytest.mark.parametrize(
    "garbage",
    [
        BAD_PATH,
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x00" * 64,
        os.urandom(4096),
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    ],
)
async def test_garbage_closes_its_own_connection_only(tmp_path: Path, garbage: bytes) -> None:
    """Bytes that are not HTTP/2, or that would break gRPC, close only the connection that sent them."""
    loop = asyncio.get_running_loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            with socket.socket(socket.AF_UNIX) as client:
                client.setblocking(False)
                await loop.sock_connect(client, str(world.socket_path))
                await loop.sock_sendall(client, garbage)
                with suppress(ConnectionResetError):  # closed with some of the garbage unread
                    while await loop.sock_recv(client, 65_536):
                        pass
            await Stubs(channel).daemon.GetStatus(STATUS)


async def test_an_internal_error_ends_its_own_connection_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection whose handling fails is closed with a line in the log, and the next one is served."""
    failures = [ZeroDivisionError()]

    def failing(connection: socket.socket) -> Peer:
        if failures:
            raise failures.pop()
        return peer_of(connection)

    monkeypatch.setattr(door_module, "peer_of", failing)
    loop = asyncio.get_running_loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world:
            with socket.socket(socket.AF_UNIX) as client:
                client.setblocking(False)
                await loop.sock_connect(client, str(world.socket_path))
                assert await loop.sock_recv(client, 1) == b""
            async with world.channel() as channel:
                await Stubs(channel).daemon.GetStatus(STATUS)
    assert "ZeroDivisionError" in caplog.text


async def test_a_connection_that_says_nothing_is_closed(tmp_path: Path) -> None:
    """A silent connection is closed after the handshake's deadline."""
    loop = asyncio.get_running_loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path, entry=AccessRule(handshake_seconds=0.05)) as world:
            with socket.socket(socket.AF_UNIX) as client:
                client.setblocking(False)
                await loop.sock_connect(client, str(world.socket_path))
                assert await loop.sock_recv(client, 1) == b""


async def test_large_and_small_messages_pass_side_by_side(tmp_path: Path) -> None:
    """Under load of many connections and large messages every answer is right and belongs to its question."""
    value = "x" * 250_000
    text = f'"{value}"'

    async def work(number: int) -> None:
        async with world.channel() as channel:
            memory = Stubs(channel).memory
            for turn in range(6):
                key = f"{number}/{turn}"
                await memory.WriteMemory(memory_pb2.WriteMemoryRequest(key=key, value_json=text))
                answer = await memory.ReadMemory(memory_pb2.ReadMemoryRequest(key=key))
                assert answer.entry.key == key
                assert answer.entry.value_json == text

    with anyio.fail_after(DEADLINE_SECONDS * 2):
        async with api_world(tmp_path) as world:
            async with anyio.create_task_group() as tasks:
                for number in range(16):
                    tasks.start_soon(work, number)
            assert len(world.behind.memory.by_user[os.getuid()]) == 96
