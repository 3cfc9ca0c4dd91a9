"""The number of syncs: a count, so it is the same on any machine."""

import asyncio
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from aeond.api.v1 import parts_pb2
from benchmarks.contenders import aeond_chain
from benchmarks.contenders.counting_daemon import COUNT, counter
from benchmarks.daemon import running_daemon
from benchmarks.page import Section, verdict

CHAINS = 20
SHORT, LONG = 10, 20  # steps: the difference between chains is the cost of the additional steps


def measure(folder: Path) -> Section:
    """Syncs of a short and a long chain, of pure steps and of steps with effects."""
    count = folder / "syncs"
    rows = []
    with running_daemon(folder, counting(count)) as daemon:
        for name, chain, floor, at_most in (
            ("a pure step", aeond_chain.echo_chain, 0, 1.0),
            ("a step with an effect", aeond_chain.file_chain, 2, 2.0),
        ):
            short = syncs_of(daemon.socket, count, chain, SHORT, CHAINS)
            step = (syncs_of(daemon.socket, count, chain, LONG, CHAINS) - short) / (LONG - SHORT)
            rows.append((name, f"{step:.2f}", f"{floor}", verdict(step, at_most=at_most)))
            rows.append(
                (f"a run of {SHORT} of them in total", f"{short:.1f}", f"{max(1, floor * SHORT)}", "")
            )
    return Section(
        "Syncs",
        f"Counted below SQLite, journal, memory and undo log together, over {CHAINS} chains of each length. The"
        f" cost of a step is the difference between a chain of {LONG} steps and one of {SHORT}. The floor"
        " is one sync for data that must be on disk before the next step starts: the outcome of one step"
        " and the intent of the next share it. A step with an effect needs one more, for what it replaces, so that it"
        " can be undone. Steps that only compute need none: their results are on disk before they are shown.",
        ("what", "syncs", "floor", "aim"),
        tuple(rows),
    )


def counting(count: Path) -> tuple[str, ...]:
    """The daemon program with its syncs counted in a file."""
    return (sys.executable, "-m", "benchmarks.contenders.counting_daemon", str(count))


def syncs_of(
    socket: Path, count: Path, chain: Callable[[int], parts_pb2.Plan], steps: int, chains: int
) -> float:
    """Syncs of one chain of this many steps; the median, so that a checkpoint in between does not count."""
    shared = counter(count)
    counts: list[int] = []
    for _ in range(chains):
        (before,) = COUNT.unpack_from(shared)
        asyncio.run(aeond_chain.measure(socket, 1, chain(steps)))
        (after,) = COUNT.unpack_from(shared)
        counts.append(after - before)
    return statistics.median(counts)
