"""How long one user's calls take while another user floods the daemon."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.daemon import running_daemon
from benchmarks.measuring import ROOT
from benchmarks.page import Section, microseconds, verdict

USER, NEIGHBOUR = 1_001, 1_002
COUNT: Final = 300  # rounds of three calls
TURNS: Final = 3
MOST_RATIO: Final = 2.0
PROGRAM: Final = (sys.executable, "-m", "benchmarks.contenders.neighbour")


def measure(folder: Path) -> Section:
    """Alternates the three cases, with one daemon."""
    folder.chmod(0o755)
    folder.parent.chmod(0o755)
    seen: dict[str, list[float]] = {case: [] for case in _CASES}
    with running_daemon(folder) as daemon:
        for number in range(1, TURNS + 1):
            for case, neighbour in _CASES.items():
                print(f"  round {number} of {TURNS}: {case}", flush=True)
                with neighbour(daemon.socket):
                    seen[case] += _durations(daemon.socket)
    quiet = _p99(seen["alone"])
    users = (
        "two users"
        if os.geteuid() == 0
        else "one user in both roles, which only root can change: not the real case"
    )
    return Section(
        "Neighbours",
        f"{COUNT * TURNS * 3} calls of one user with {users}: a key is read, a run is read and runs are listed, one call"
        " after the other. The neighbour either keeps a core busy without calling the daemon, or floods it: with 32"
        " connections, 256 calls in progress at a time, values of 200 kB and more runs than it may queue."
        " The machine has two cores for the daemon, its user and the neighbour.",
        ("the neighbour", "median", "p99", "p99 to that alone", "aim"),
        tuple(_row(case, durations, quiet) for case, durations in seen.items()),
    )


def _row(case: str, durations: list[float], quiet: float) -> tuple[str, ...]:
    ratio = _p99(durations) / quiet
    return (
        case,
        microseconds(statistics.median(durations)),
        microseconds(_p99(durations)),
        f"{ratio:.2f}",
        verdict(ratio, at_most=MOST_RATIO) if case == "floods the daemon" else "",
    )


def _p99(durations: list[float]) -> float:
    return statistics.quantiles(durations, n=100)[98]


def _durations(socket: Path) -> list[float]:
    told = subprocess.run(
        [*PROGRAM, str(socket), str(USER), str(COUNT)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    durations: list[float] = json.loads(told.stdout)
    return durations


@contextmanager
def _idle(_socket: Path) -> Iterator[None]:
    yield


@contextmanager
def _busy(_socket: Path) -> Iterator[None]:
    with _ended(subprocess.Popen([sys.executable, "-c", "while True: pass"])):
        yield


@contextmanager
def _flooding(socket: Path) -> Iterator[None]:
    words = [*PROGRAM, str(socket), str(NEIGHBOUR), "0"]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with _ended(process):
        assert process.stdout is not None
        assert process.stdout.readline() == "flooding\n"
        yield


@contextmanager
def _ended(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.kill()
        process.communicate()


_CASES: Final = {"alone": _idle, "keeps a core busy": _busy, "floods the daemon": _flooding}
