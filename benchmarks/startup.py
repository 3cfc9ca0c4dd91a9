"""From exec to READY, memory, and what it costs to have it there doing nothing."""

import tempfile
from pathlib import Path
from time import perf_counter

import psutil

from benchmarks.daemon import running_daemon
from benchmarks.measuring import Sample
from benchmarks.page import Section, megabytes, milliseconds, verdict
from benchmarks.streams import bare_server

STARTS = 7
IDLE_SECONDS = 10.0


def measure(folder: Path) -> Section:
    """Several starts of each, alternating; memory and idle time of the last."""
    bare_starts, starts = [], []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            begun = perf_counter()
            with bare_server(Path(own), events=1, batch=1) as server:
                bare_starts.append(perf_counter() - begun)
                bare_memory = psutil.Process(server.pid).memory_info().rss
            with running_daemon(Path(own)) as daemon:
                starts.append(daemon.ready_seconds)
                process = psutil.Process(daemon.pid)
                memory = process.memory_info().rss
    with tempfile.TemporaryDirectory(dir=folder) as own, running_daemon(Path(own)) as daemon:
        idle = idle_share(psutil.Process(daemon.pid))
    start, bare_start = Sample(tuple(starts)).median, Sample(tuple(bare_starts)).median
    return Section(
        "Start and rest",
        "With no model loaded. The floor is a Python process that imports grpc.aio and listens.",
        ("what", "aeond", "floor", "aim"),
        (
            (
                "from exec to READY",
                milliseconds(start),
                milliseconds(bare_start),
                verdict(start, at_most=0.5, unit=" s"),
            ),
            (
                "resident memory",
                megabytes(memory),
                megabytes(bare_memory),
                verdict(memory / 2**20, at_most=64, unit=" MiB"),
            ),
            (f"processor while idle, over {IDLE_SECONDS:.0f} s", f"{idle:.2%} of a core", "0", ""),
        ),
    )


def idle_share(process: psutil.Process) -> float:
    """The part of a core that the process uses while nobody asks for anything."""
    process.cpu_percent()
    return float(process.cpu_percent(interval=IDLE_SECONDS)) / 100
