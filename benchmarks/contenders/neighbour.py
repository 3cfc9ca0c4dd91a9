"""One user's calls, one after the other: prints JSON lists of durations, or floods until it is ended.

usage: python -m benchmarks.contenders.neighbour SOCKET UID COUNT

With a COUNT the user makes that many rounds of calls, each after the answer to the one before. Without (0) the user
opens as many connections as it may, keeps many calls in progress on each, and queues runs up to the limit.
"""

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Awaitable
from contextlib import suppress
from time import perf_counter
from typing import Any

import grpc

from aeond.api.v1 import (
    daemon_pb2,
    daemon_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    parts_pb2,
    runs_pb2,
    runs_pb2_grpc,
    tools_pb2,
)

CONNECTIONS = 32
CALLS_PER_CONNECTION = 8
CALLS_PER_RUN = 3
LARGE = '"' + "x" * 200_000 + '"'


def channel_to(socket: str) -> grpc.aio.Channel:
    return grpc.aio.insecure_channel(f"unix:{socket}", options=[("grpc.use_local_subchannel_pool", 1)])


async def rounds(socket: str, count: int) -> dict[str, list[float]]:
    """The durations of four cheap calls, and of a run of one step from its creation to its end."""
    async with channel_to(socket) as channel:
        runs, memory = runs_pb2_grpc.RunServiceStub(channel), memory_pb2_grpc.MemoryServiceStub(channel)
        daemon = daemon_pb2_grpc.DaemonServiceStub(channel)
        await memory.WriteMemory(memory_pb2.WriteMemoryRequest(key="k", value_json="1"))
        request = parts_pb2.RunRequest(text="hello")
        run_id = (await runs.CreateRun(runs_pb2.CreateRunRequest(request=request))).run.run_id
        calls: list[tuple[Any, Any]] = [
            (memory.ReadMemory, memory_pb2.ReadMemoryRequest(key="k")),
            (runs.GetRun, runs_pb2.GetRunRequest(run_id=run_id)),
            (runs.ListRuns, runs_pb2.ListRunsRequest(page_size=10)),
            (daemon.GetStatus, daemon_pb2.GetStatusRequest()),
        ]
        step = parts_pb2.PlanStep(
            step_id="s1",
            description="add",
            tool_call=tools_pb2.ToolCall(tool="calculator", arguments_json='{"expression": "1 + 1"}'),
        )
        one_step = runs_pb2.RunAndWatchRequest(
            request=parts_pb2.RunRequest(text="add"), plan=parts_pb2.Plan(goal="add", steps=[step])
        )
        durations: dict[str, list[float]] = {"calls": [], "runs": []}
        for number in range(count):
            for call, asked in calls:
                begun = perf_counter()
                await call(asked)
                durations["calls"].append(perf_counter() - begun)
                await asyncio.sleep(0.002)  # a user's call comes at any time, not right after the one before
            if number % CALLS_PER_RUN == 0:
                begun = perf_counter()
                async for _ in runs.RunAndWatch(one_step):
                    pass
                durations["runs"].append(perf_counter() - begun)
        return durations


async def flood(socket: str) -> None:
    async with asyncio.TaskGroup() as tasks:
        for number in range(CONNECTIONS * CALLS_PER_CONNECTION):
            if number % CALLS_PER_CONNECTION == 0:
                channel = channel_to(socket)
            tasks.create_task(repeat(channel, number))
        sys.stdout.write("flooding\n")
        sys.stdout.flush()


async def repeat(channel: grpc.aio.Channel, number: int) -> None:
    runs, memory = runs_pb2_grpc.RunServiceStub(channel), memory_pb2_grpc.MemoryServiceStub(channel)
    request = runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="hello"))
    calls: list[tuple[Any, Any]] = [
        (memory.ReadMemory, memory_pb2.ReadMemoryRequest(key="k")),
        (runs.ListRuns, runs_pb2.ListRunsRequest(page_size=10)),
        (runs.CreateRun, request),
        (memory.WriteMemory, memory_pb2.WriteMemoryRequest(key=f"k{number}", value_json=LARGE)),
    ]
    for call, asked in itertools.cycle(calls[number % 4 :] + calls[: number % 4]):
        answer: Awaitable[Any] = call(asked)
        with suppress(grpc.RpcError):  # at its limit
            await answer


def main(socket: str, uid: int, count: int) -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    if count:
        sys.stdout.write(json.dumps(asyncio.run(rounds(socket, count))) + "\n")
    else:
        asyncio.run(flood(socket))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
