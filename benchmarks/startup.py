"""From exec to READY, memory, and what it costs to have it there doing nothing."""

import asyncio
import tempfile
from pathlib import Path
from time import perf_counter

import psutil

from benchmarks.contenders.aeond_chain import STEPS, echo_chain
from benchmarks.contenders.aeond_chain import measure as run_chains
from benchmarks.daemon import running_daemon
from benchmarks.measuring import Sample
from benchmarks.page import Section, megabytes, milliseconds, verdict
from benchmarks.streams import bare_server

STARTS = 7
IDLE_SECONDS = 10.0
CHAINS = 50


def measure(folder: Path) -> Section:
    """Several starts of each, alternating; then one daemon at rest, and the same one after work."""
    bare_starts, starts = [], []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            begun = perf_counter()
            with bare_server(Path(own), events=1, batch=1) as server:
                bare_starts.append(perf_counter() - begun)
                bare_memory = psutil.Process(server.pid).memory_info().rss
            with running_daemon(Path(own)) as daemon:
                starts.append(daemon.ready_seconds)
    with tempfile.TemporaryDirectory(dir=folder) as own, running_daemon(Path(own)) as daemon:
        process = psutil.Process(daemon.pid)
        idle = idle_share(process)
        at_rest = process.memory_info().rss
        asyncio.run(run_chains(daemon.socket, CHAINS, echo_chain(STEPS)))
        after_work = process.memory_info().rss
    start, bare_start = Sample(tuple(starts)).median, Sample(tuple(bare_starts)).median
    return Section(
        "Start and rest",
        "With no model loaded. The floor is a Python process that imports grpc.aio and listens.",
        ("what", "aeond", "floor", "aim"),
        (
            ("from exec to READY", milliseconds(start), milliseconds(bare_start), _within(start, 0.5, " s")),
            (
                "resident at rest",
                megabytes(at_rest),
                megabytes(bare_memory),
                _within(at_rest / 2**20, 64, " MiB"),
            ),
            (
                f"resident after {CHAINS} runs of {STEPS} steps",
                megabytes(after_work),
                megabytes(bare_memory),
                _within(after_work / 2**20, 64, " MiB"),
            ),
            (f"processor while idle, over {IDLE_SECONDS:.0f} s", f"{idle:.2%} of a core", "0", ""),
        ),
    )


def _within(value: float, limit: float, unit: str) -> str:
    return verdict(value, at_most=limit, unit=unit)


def idle_share(process: psutil.Process) -> float:
    """The part of a core that the process uses while nobody asks for anything."""
    process.cpu_percent()
    return float(process.cpu_percent(interval=IDLE_SECONDS)) / 100
