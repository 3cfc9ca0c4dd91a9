"""Clients that send invalid data, die, idle or leave: their resources are freed, and others are served."""

import asyncio
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import anyio
import grpc
import pytest

from aeond.api.v1 import daemon_pb2, parts_pb2, runs_pb2
from aeond.server.door.access_control import AccessRule
from tests.support.api_world import DEADLINE_SECONDS, Stubs, alone, api_world, ask_raw, refused
from tests.support.repository import ROOT

STATUS = daemon_pb2.GetStatusRequest()
HELLO = runs_pb2.RunAndWatchRequest(request=parts_pb2.RunRequest(text="hello"))

WATCHER = """
import sys
import grpc
from aeond.api.v1 import parts_pb2, runs_pb2, runs_pb2_grpc

channel = grpc.insecure_channel("unix:" + sys.argv[1])
request = runs_pb2.RunAndWatchRequest(request=parts_pb2.RunRequest(text="hello"))
for response in runs_pb2_grpc.RunServiceStub(channel).RunAndWatch(request):
    print(response.run.run_id, flush=True)
"""


async def test_text_that_is_not_utf8_is_an_invalid_argument(tmp_path: Path) -> None:
    """A request in Latin-1 is refused with a reason, and no run comes of it."""
    valid = runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="caf~ cr~me")).SerializeToString()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            async with refused(grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE"):
                await ask_raw(channel, "/aeond.api.v1.RunService/CreateRun", valid.replace(b"~", b"\xe9"))
            assert world.behind.runs.snapshots == {}


async def test_a_client_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    """When a client's process dies in the middle of a stream, its stream, its watcher and its connection
    end, and its run stays."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world:
            command = [sys.executable, "-c", WATCHER, str(world.socket_path)]
            async with await anyio.open_process(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
                assert process.stdout is not None
                assert (await process.stdout.receive()).startswith(b"run-0001")
                await world.behind.runs.watchers.reaches(1)
                process.kill()
                await world.behind.runs.watchers.reaches(0)
            async with world.channel() as channel:
                client = Stubs(channel)
                await alone(client)
                assert (await client.daemon.GetStatus(STATUS)).load.streams == 0
                request = runs_pb2.GetRunRequest(run_id="run-0001")
                assert (await client.runs.GetRun(request)).run.last_seq == 1


async def test_hundreds_of_idle_connections_end_by_themselves(tmp_path: Path) -> None:
    """A client that opens connections and says nothing is cut off, and others are served again."""
    loop = asyncio.get_running_loop()
    with anyio.fail_after(DEADLINE_SECONDS), ExitStack() as idle:
        patience = AccessRule(handshake_seconds=1.0)
        async with api_world(tmp_path, entry=patience) as world, world.channel() as channel:
            client = Stubs(channel)
            await client.daemon.GetStatus(STATUS)
            for _ in range(500):
                connection = idle.enter_context(socket.socket(socket.AF_UNIX))
                connection.setblocking(False)
                await loop.sock_connect(connection, str(world.socket_path))
            status = await client.daemon.GetStatus(STATUS)
            assert status.load.connections <= 64
            await alone(client)


async def test_streams_opened_and_left_by_the_hundred_leave_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A client that opens streams and cancels them at once, over and over, costs nothing that stays."""
    with anyio.fail_after(DEADLINE_SECONDS * 2):
        async with api_world(tmp_path) as world, world.channel() as channel:
            client = Stubs(channel)
            await client.runs.CreateRun(runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="hello")))
            watch = runs_pb2.WatchRunRequest(run_id="run-0001")
            for turn in range(1_000):
                call = client.runs.WatchRun(watch)
                if turn % 2:
                    await call.read()
                call.cancel()
            await world.behind.runs.watchers.reaches(0)
            status = await client.daemon.GetStatus(STATUS)
            assert (status.load.streams, status.load.connections) == (0, 1)
    assert caplog.records == []
