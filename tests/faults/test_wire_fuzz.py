"""Invalid messages and frames: each is rejected or dropped, and the API continues to answer."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import grpc
import pytest

from aeond.api.v1 import daemon_pb2, memory_pb2, models_pb2, parts_pb2, runs_pb2, sessions_pb2, tools_pb2
from aeond.server.door.access_control import AccessRule
from tests.support.api_world import ApiWorld, Stubs, alone, api_world, ask_raw
from tests.support.http2_frames import Mutator, conversation

MANY = [pytest.param(500), pytest.param(20_000, marks=pytest.mark.nightly)]
AT_ONCE = 32
LISTEN_SECONDS = 0.1

STEP = parts_pb2.PlanStep(
    step_id="s1", tool_call=tools_pb2.ToolCall(tool="echo", arguments_json='{"a": [1, "ü"]}')
)
REQUEST = parts_pb2.RunRequest(text="größe?", labels={"a": "b"}, workspace="/srv")
SEEDS = [
    ("RunService/CreateRun", runs_pb2.CreateRunRequest(request=REQUEST, plan=parts_pb2.Plan(steps=[STEP]))),
    ("RunService/GetRun", runs_pb2.GetRunRequest(run_id="run-0001")),
    ("RunService/WatchRun", runs_pb2.WatchRunRequest(run_id="run-0001", after_seq=300)),
    ("RunService/ListRuns", runs_pb2.ListRunsRequest(page_size=7, states=[parts_pb2.RUN_STATE_FAILED])),
    ("RunService/DecideRun", runs_pb2.DecideRunRequest(run_id="r", resolution=parts_pb2.RESOLUTION_DONE)),
    ("ToolService/InvokeTool", tools_pb2.InvokeToolRequest(call=STEP.tool_call, workspace="/srv")),
    ("MemoryService/WriteMemory", memory_pb2.WriteMemoryRequest(key="k", value_json='{"n": 1e5}')),
    ("MemoryService/SearchMemory", memory_pb2.SearchMemoryRequest(prefix="k", page_size=3)),
    (
        "ModelService/Generate",
        models_pb2.GenerateRequest(
            messages=[sessions_pb2.Message(role=sessions_pb2.ROLE_USER, content_json='"hi"')], stop=["."]
        ),
    ),
    ("DaemonService/GetStatus", daemon_pb2.GetStatusRequest()),
    ("SessionService/CreateSession", sessions_pb2.CreateSessionRequest(title="t")),
]
CALLS = [(f"/aeond.api.v1.{path}", message.SerializeToString()) for path, message in SEEDS]
OUR_FAULT = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}


@pytest.fixture
def no_tracebacks(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing above INFO may be logged by anybody while a test runs."""
    caplog.set_level(logging.INFO)
    yield
    assert [record.getMessage() for record in caplog.records if record.levelno > logging.INFO] == []


@pytest.mark.parametrize("inputs", MANY)
@pytest.mark.usefixtures("no_tracebacks")
async def test_no_message_however_broken_is_our_fault(tmp_path: Path, inputs: int) -> None:
    """Mutated requests of every method end as an answer or as the client's own mistake, never as a bug."""
    mutator = Mutator(seed=inputs)
    with anyio.fail_after(inputs / 5):
        async with api_world(tmp_path) as world, world.channel() as channel:
            for _ in range(inputs):
                path, message = mutator.dice.choice(CALLS)
                broken = mutator.mutated(message, mutator.dice.randint(1, 6))
                with anyio.move_on_after(0.5):  # a stream that has nothing to say may go on for ever
                    try:
                        await ask_raw(channel, path, broken)
                    except grpc.aio.AioRpcError as error:
                        assert error.code() not in OUR_FAULT, (path, broken, error.details())
            await still_serves(world)


@pytest.mark.parametrize("inputs", MANY)
@pytest.mark.usefixtures("no_tracebacks")
async def test_no_conversation_however_broken_hurts_the_daemon(tmp_path: Path, inputs: int) -> None:
    """Mutated HTTP/2 conversations leave a daemon that serves, with no connection left open."""
    mutator = Mutator(seed=inputs + 1)
    limit = anyio.CapacityLimiter(AT_ONCE)
    with anyio.fail_after(inputs / 5):
        # A client that is gone counts until the door has seen it go.
        async with api_world(tmp_path, entry=AccessRule(max_connections=1_000)) as world:
            async with anyio.create_task_group() as tasks:
                for _ in range(inputs):
                    calls = mutator.dice.choices(CALLS, k=mutator.dice.randint(1, 3))
                    async with limit:
                        tasks.start_soon(
                            converse, world.socket_path, mutator.mutated_frames(conversation(calls)), limit
                        )
            await still_serves(world)


async def converse(path: Path, data: bytes, limit: anyio.CapacityLimiter) -> None:
    """Sends everything, reads for a short time, and disconnects."""
    loop = asyncio.get_running_loop()
    async with limit:
        with socket.socket(socket.AF_UNIX) as client, suppress(ConnectionError):
            client.setblocking(False)
            await loop.sock_connect(client, str(path))
            with anyio.move_on_after(LISTEN_SECONDS):
                await loop.sock_sendall(client, data)
                while await loop.sock_recv(client, 65_536):
                    pass


async def still_serves(world: ApiWorld) -> None:
    """A correct client is served, and the only other connection is the test's own channel."""
    async with world.channel() as channel:
        await alone(Stubs(channel), connections=2)
