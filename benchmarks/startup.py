"""Start-up time from exec to READY, memory, and the cost of an idle daemon."""

import asyncio
import compileall
import tempfile
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep

import psutil

from benchmarks.contenders.aeond_chain import STEPS, echo_chain
from benchmarks.contenders.aeond_chain import measure as run_chains
from benchmarks.daemon import UNLOADED, running_daemon
from benchmarks.measuring import ROOT, Sample
from benchmarks.page import Section, megabytes, milliseconds, verdict
from benchmarks.streams import bare_server

STARTS = 7
IDLE_SECONDS = 60.0
QUIET_SECONDS = 15.0  # before: what the start leaves to do
MOST_IDLE = 0.1  # percent of a core
SETTLING_SECONDS = 35.0  # the daemon returns memory every 30 s while it is idle
CHAINS = 50


def measure(folder: Path) -> Section:
    """Several starts of each, alternating; then one daemon at rest, and the same one after work."""
    # As in an installation, where modules are compiled, whatever the environment here says.
    compileall.compile_dir(ROOT / "aeond", quiet=1)
    bare_starts, starts = [], []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            begun = perf_counter()
            with bare_server(Path(own), events=1, batch=1) as server:
                bare_starts.append(perf_counter() - begun)
                bare_memory = psutil.Process(server.pid).memory_info().rss
            with running_daemon(Path(own), model=UNLOADED) as daemon:
                starts.append(daemon.ready_seconds)
    with tempfile.TemporaryDirectory(dir=folder) as own, running_daemon(Path(own), model=UNLOADED) as daemon:
        process = psutil.Process(daemon.pid)
        sleep(QUIET_SECONDS)
        idle = idle_share(process)
        at_rest = process.memory_info().rss
        asyncio.run(run_chains(daemon.socket, CHAINS, echo_chain(STEPS)))
        after_work = process.memory_info().rss
        sleep(SETTLING_SECONDS)
        at_rest_again = process.memory_info().rss
    start, bare_start = Sample(tuple(starts)).median, Sample(tuple(bare_starts)).median
    return Section(
        "Start and rest",
        "With the default engine and no model loaded. The floor is a Python process that imports"
        " grpc.aio and listens. The additional memory after work is mostly mapped library code, pages of"
        " files that the system may reclaim at any time; an idle daemon releases them itself.",
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
                f"resident right after {CHAINS} runs of {STEPS} steps",
                megabytes(after_work),
                megabytes(bare_memory),
                "",
            ),
            (
                f"at rest again, {SETTLING_SECONDS:.0f} s later",
                megabytes(at_rest_again),
                megabytes(bare_memory),
                _within(at_rest_again / 2**20, 64, " MiB"),
            ),
            (
                f"processor while idle, over {IDLE_SECONDS:.0f} s",
                f"{idle:.3%} of a core",
                "0",
                verdict(idle * 100, at_most=MOST_IDLE, unit=" %"),
            ),
        ),
    )


def _within(value: float, limit: float, unit: str) -> str:
    return verdict(value, at_most=limit, unit=unit)


def idle_share(process: psutil.Process) -> float:
    """The share of a core that the idle process uses, from the nanoseconds that the system counts for each thread: its
    ticks of a hundredth of a second are too coarse."""
    before = _running_nanoseconds(process)
    sleep(IDLE_SECONDS)
    after = _running_nanoseconds(process)
    return sum(now - before.get(thread, 0) for thread, now in after.items()) / IDLE_SECONDS / 1e9


def _running_nanoseconds(process: psutil.Process) -> dict[str, int]:
    """By thread; one that ends meanwhile is left out."""
    found = {}
    for thread in Path(f"/proc/{process.pid}/task").iterdir():
        with suppress(FileNotFoundError):
            found[thread.name] = int((thread / "schedstat").read_text(encoding="ascii").split()[0])
    return found
