"""The overhead of the door for a call and a stream, compared with the same server bound directly."""

import statistics
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import anyio
import grpc.aio

from aeond.api.v1 import daemon_pb2, daemon_pb2_grpc, runs_pb2, runs_pb2_grpc
from benchmarks.measuring import ROOT, Sample
from benchmarks.page import Section, microseconds, verdict

CALLS_A_TURN = 200
CALL_TURNS = 31
STREAM_TURNS = 11
EVENTS = {1: 8_192, 256: 262_144}  # by events per message: the number of events
READY_SECONDS = 30.0
LIMIT_SECONDS = 300.0
MOST_ADDED_SECONDS = 150e-6
LEAST_SHARE = 0.8

Measured = Callable[[grpc.aio.Channel], Awaitable[float]]


@contextmanager
def server(folder: Path, batch: int) -> Iterator[None]:
    """The server with both its sockets, in a separate process."""
    module = "benchmarks.contenders.door_server"
    command = [sys.executable, "-m", module, str(folder), str(EVENTS[batch]), str(batch)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            process.communicate(timeout=READY_SECONDS)


async def call_seconds(channel: grpc.aio.Channel) -> float:
    """The median of the calls of one round."""
    stub, seconds = daemon_pb2_grpc.DaemonServiceStub(channel), []
    for _ in range(CALLS_A_TURN):
        begun = perf_counter()
        await stub.GetStatus(daemon_pb2.GetStatusRequest())
        seconds.append(perf_counter() - begun)
    return statistics.median(seconds)


async def stream_seconds(channel: grpc.aio.Channel) -> float:
    """The duration of one whole stream."""
    begun = perf_counter()
    async for _ in runs_pb2_grpc.RunServiceStub(channel).WatchRun(runs_pb2.WatchRunRequest(run_id="bare")):
        pass
    return perf_counter() - begun


async def in_turns(folder: Path, turns: int, measured: Measured) -> tuple[Sample, Sample]:
    """Direct and through the door in alternation, so that a disturbance affects both."""
    seconds: tuple[list[float], list[float]] = ([], [])
    with anyio.fail_after(LIMIT_SECONDS):
        async with (
            grpc.aio.insecure_channel(f"unix:{folder / 'direct.sock'}") as direct,
            grpc.aio.insecure_channel(f"unix:{folder / 'door.sock'}") as door,
        ):
            for channel in (direct, door):
                await channel.channel_ready()
                await measured(channel)  # the first one is slower in both
            for _ in range(turns):
                for channel, taken in zip((direct, door), seconds, strict=True):
                    taken.append(await measured(channel))
    return Sample(tuple(seconds[0])), Sample(tuple(seconds[1]))


def measure(folder: Path) -> Section:
    """Calls one after another, then streams of small messages and of pages as the daemon sends them."""
    rows = []
    for batch, events in EVENTS.items():
        own = folder / str(batch)
        own.mkdir()
        with server(own, batch):
            if batch == 1:
                direct, door = anyio.run(in_turns, own, CALL_TURNS, call_seconds)
                added = statistics.median(
                    through - straight for straight, through in zip(direct.seconds, door.seconds, strict=True)
                )
                rows.append(
                    (
                        "a call, median",
                        microseconds(door.median),
                        microseconds(direct.median),
                        f"{microseconds(added)} more",
                        verdict(added * 1e6, at_most=MOST_ADDED_SECONDS * 1e6, unit=" us"),
                    )
                )
            direct, door = anyio.run(in_turns, own, STREAM_TURNS, stream_seconds)
            share = statistics.median(
                straight / through for straight, through in zip(direct.seconds, door.seconds, strict=True)
            )
            what = "one event per message" if batch == 1 else f"{batch} events per message"
            rows.append(
                (
                    f"a stream, {what}",
                    f"{events / door.median:,.0f} events/s",
                    f"{events / direct.median:,.0f} events/s",
                    f"{share:.2f} of it",
                    verdict(share, at_least=LEAST_SHARE),
                )
            )
    return Section(
        "The door",
        f"One grpc.aio server with two sockets: its own, and the door's in front of it. {CALL_TURNS}"
        f" rounds of {CALLS_A_TURN} calls and {STREAM_TURNS} streams of each kind, direct and through the"
        " door in alternation. The overhead and the share are medians over adjacent rounds.",
        ("what", "through the door", "direct", "overhead", "aim"),
        tuple(rows),
    )
