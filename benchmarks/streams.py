"""Events per second that one client receives over one stream."""

import itertools
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import truediv
from pathlib import Path
from time import perf_counter

import anyio
import grpc.aio

from aeond.api.v1 import runs_pb2, runs_pb2_grpc
from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.events import Event, EventKind, RunCreated, RunEnded, StepEnded, StepStarted
from aeond.domain.runs.run import RunRequest, RunState
from aeond.domain.tools import Recovery, ToolCall
from benchmarks.daemon import running_daemon
from benchmarks.measuring import ROOT, Sample
from benchmarks.page import Section, verdict

EVENTS = 20_480
PAGE_EVENTS = 256
ROUNDS = 7
RUN_ID = "01900000-0000-7000-8000-000000000000"
BEGUN = 1_750_000_000.0
READY_SECONDS = 30.0
WATCH_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class BareServer:
    """Its socket and its process id."""

    socket: Path
    pid: int


@contextmanager
def bare_server(folder: Path, events: int, batch: int) -> Iterator[BareServer]:
    """grpc.aio without a service behind it."""
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
            yield BareServer(socket, process.pid)
        finally:
            process.communicate(timeout=READY_SECONDS)


def watch_seconds(socket: Path, run_id: str, events: int) -> float:
    """The time to receive this many events of a finished run."""
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
        message = f"{received} events arrived, expected {events}"
        raise RuntimeError(message)
    return seconds


def measure(folder: Path) -> Section:
    """The same client and number of events, in alternation: ours from its journal, the floor from memory."""
    state = folder / "state"
    state.mkdir()
    anyio.run(_write_run, state / "journal.db")
    seconds: dict[str, list[float]] = {"aeond": [], "one": [], "batch": []}
    with (
        running_daemon(folder) as daemon,
        bare_server(folder, EVENTS, 1) as one,
        bare_server(folder, EVENTS, PAGE_EVENTS) as batch,
    ):
        for _ in range(ROUNDS):
            for name, socket in (("aeond", daemon.socket), ("one", one.socket), ("batch", batch.socket)):
                seconds[name].append(watch_seconds(socket, RUN_ID, EVENTS))
    rates = {name: EVENTS / Sample(tuple(durations)).median for name, durations in seconds.items()}
    ratio = statistics.median(map(truediv, seconds["one"], seconds["aeond"]))
    return Section(
        "A stream",
        f"One client receives {EVENTS:,} events over one stream, {ROUNDS} times. aeond reads each from"
        " its journal, checks and translates it, and sends available events together. The floor is"
        " grpc.aio alone with one event per message, all of them precomputed. For comparison the same"
        " with aeond's page size, where almost no work remains.",
        ("who", "events a second", "of the floor", "aim"),
        (
            ("grpc.aio, one event per message", f"{rates['one']:,.0f}", "1.0", ""),
            ("aeond", f"{rates['aeond']:,.0f}", f"{ratio:.1f}", verdict(ratio, at_least=0.8)),
            (
                f"grpc.aio, {PAGE_EVENTS} events per message",
                f"{rates['batch']:,.0f}",
                f"{rates['batch'] / rates['one']:.1f}",
                "",
            ),
        ),
    )


async def _write_run(path: Path) -> None:
    """A finished run with this many events after its start."""
    call = ToolCall("echo", {"text": "hello"}, f"{RUN_ID}/s1")
    step = PlanStep("s1", "Say it again.", tool_call=call)
    pair: tuple[EventKind, EventKind] = (
        StepStarted(step, 1, StepMode.TOOL, Recovery.RERUN, Amounts(ttl=1, tool_calls=1)),
        StepEnded("s1", StepState.SUCCEEDED, StepMode.TOOL, output={"text": "hello"}, duration_seconds=0.001),
    )
    kinds: list[EventKind] = [
        RunCreated(RunRequest("stream"), Budget()),
        *itertools.islice(itertools.cycle(pair), EVENTS - 2),
    ]
    kinds.append(RunEnded(RunState.SUCCEEDED))
    events = [Event(RUN_ID, seq, BEGUN, seq * 0.001, kind) for seq, kind in enumerate(kinds, start=1)]
    async with SqliteJournal(path) as journal:
        for first in range(0, EVENTS, PAGE_EVENTS):
            await journal.append(events[first : first + PAGE_EVENTS])
