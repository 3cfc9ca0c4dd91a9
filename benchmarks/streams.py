"""How many events a second one client gets over one stream."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import anyio
import grpc.aio

from aeond.api.v1 import runs_pb2, runs_pb2_grpc
from benchmarks.measuring import ROOT

READY_SECONDS = 30.0
WATCH_SECONDS = 120.0


@contextmanager
def bare_server(folder: Path, events: int, batch: int) -> Iterator[Path]:
    """The socket of grpc.aio with nothing behind it."""
    socket = folder / f"bare-{batch}.sock"
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "benchmarks.contenders.bare_server",
        socket,
        str(events),
        str(batch),
    ]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield socket
        finally:
            process.communicate(timeout=READY_SECONDS)


def watch_seconds(socket: Path, run_id: str, events: int) -> float:
    """How long it takes to receive this many events of a run that has them all."""
    return anyio.run(_watch, socket, run_id, events)


async def _watch(socket: Path, run_id: str, events: int) -> float:
    async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
        await channel.channel_ready()
        stub = runs_pb2_grpc.RunServiceStub(channel)
        received = 0
        with anyio.fail_after(WATCH_SECONDS):
            begun = perf_counter()
            async for response in stub.WatchRun(runs_pb2.WatchRunRequest(run_id=run_id)):
                received += len(response.events)
                if received >= events:
                    break
            seconds = perf_counter() - begun
    if received < events:
        message = f"{received} events arrived, {events} were asked for"
        raise RuntimeError(message)
    return seconds
