"""How long one user's calls and runs take while another user floods the daemon.

The flood comes from a process on the same machine, which takes processor time from the measured user as well, whatever the
daemon does. The daemon's part is therefore measured against a neighbour who keeps one core busy without calling the
daemon; a quiet machine is the other reference. All three cases alternate, and the same daemon serves them. The flooder is at
its limits all the time: of connections, of calls, of active runs and of waiting runs.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Final

from aeond_client import Client
from benchmarks.daemon import running_daemon
from benchmarks.measuring import ROOT
from benchmarks.page import Section, microseconds, verdict

USER, NEIGHBOUR = 1_001, 1_002
COUNT: Final = 150  # rounds of four calls
TURNS: Final = 9
MOST_RATIO: Final = 2.0
IDLE_SECONDS: Final = 60.0
PROGRAM: Final = (sys.executable, "-m", "benchmarks.contenders.neighbour")


def measure(folder: Path) -> Section:
    """Alternates the three cases, with one daemon."""
    folder.chmod(0o755)
    folder.parent.chmod(0o755)
    seen: dict[tuple[str, str], list[list[float]]] = {(kind, case): [] for kind in _KINDS for case in _CASES}
    with running_daemon(folder) as daemon:
        for number in range(1, TURNS + 1):
            for case, neighbour in _CASES.items():
                print(f"  round {number} of {TURNS}: {case}", flush=True)
                with neighbour(daemon.socket):
                    for kind, durations in _durations(daemon.socket).items():
                        seen[kind, case].append(durations)
    users = (
        "two users"
        if os.geteuid() == 0
        else "one user in both roles, which only root can change: not the real case"
    )
    return Section(
        "Neighbours",
        f"{COUNT * TURNS * 4} calls of one user with {users}: a key is read, a run is read, runs are listed and the status is"
        " read, one call after the other, and after every twelfth call a run of one step is made and watched to its end."
        " The neighbour either keeps a core busy without calling the daemon, or floods it: with 32"
        " connections, 256 calls in progress at a time, values of 200 kB and more runs than it may queue."
        f" The three cases take turns, {TURNS} times; median and p99 are medians over these turns, and so are the ratios of p99 within a turn,"
        " because chance decides what the scheduler of a busy machine interrupts."
        " The machine has two cores for the daemon, its user and the neighbour.",
        (
            "what",
            "the neighbour",
            "median",
            "p99",
            "p99 to that alone",
            "p99 to that with a busy core",
            "aim",
        ),
        tuple(_row(seen, kind, case) for kind, case in seen),
    )


def _row(seen: Mapping[tuple[str, str], list[list[float]]], kind: str, case: str) -> tuple[str, ...]:
    turns = seen[kind, case]
    alone, beside_busy = (
        statistics.median(
            _p99(one) / _p99(other) for one, other in zip(turns, seen[kind, reference], strict=True)
        )
        for reference in ("alone", "keeps a core busy")
    )
    return (
        _KINDS[kind],
        case,
        microseconds(statistics.median(map(statistics.median, turns))),
        microseconds(statistics.median(map(_p99, turns))),
        f"{alone:.2f}",
        f"{beside_busy:.2f}",
        verdict(beside_busy, at_most=MOST_RATIO) if case == "floods the daemon" else "",
    )


def _p99(durations: list[float]) -> float:
    return statistics.quantiles(durations, n=100, method="inclusive")[98]


def _durations(socket: Path) -> dict[str, list[float]]:
    completed = subprocess.run(
        [*PROGRAM, str(socket), str(USER), str(COUNT)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    durations: dict[str, list[float]] = json.loads(completed.stdout)
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
    _wait_until_idle(socket)


def _wait_until_idle(socket: Path) -> None:
    """Returns once the runs that a flood has left in the queue are over, for `alone` comes next."""
    with Client(str(socket.with_name(f"{socket.stem}-admin{socket.suffix}"))) as client:
        deadline = perf_counter() + IDLE_SECONDS
        while (status := client.get_status()).running_runs or status.waiting_runs:
            if perf_counter() > deadline:
                message = f"the daemon still works {IDLE_SECONDS:.0f} s after the flood"
                raise RuntimeError(message)
            sleep(0.1)


@contextmanager
def _ended(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.kill()
        process.communicate()


_CASES: Final = {"alone": _idle, "keeps a core busy": _busy, "floods the daemon": _flooding}
_KINDS: Final = {"calls": "a cheap call", "runs": "a run of one step"}
