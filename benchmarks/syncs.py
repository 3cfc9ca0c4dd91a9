"""How often the disk is asked to sync: a count, so it holds on any machine."""

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
SHORT, LONG = 10, 20  # steps: what a longer chain costs more is what its steps cost


def measure(folder: Path) -> Section:
    """Syncs of a short and a long chain, of pure steps and of steps with effects."""
    count = folder / "syncs"
    rows = []
    with running_daemon(folder, counting(count)) as daemon:
        for name, chain, floor, at_most in (
            ("a pure step", aeond_chain.echo_chain, 0, 1.0),
            ("a step with an effect", aeond_chain.file_chain, 1, 2.0),
        ):
            short = syncs_of(daemon.socket, count, chain, SHORT, CHAINS)
            step = (syncs_of(daemon.socket, count, chain, LONG, CHAINS) - short) / (LONG - SHORT)
            rows.append((name, f"{step:.2f}", f"{floor}", verdict(step, at_most=at_most)))
            rows.append(
                (f"a run of {SHORT} of them, all in all", f"{short:.1f}", f"{max(1, floor * SHORT)}", "")
            )
    return Section(
        "Syncs",
        f"Counted below SQLite, journal and memory together, over {CHAINS} chains of each length. What a chain "
        f"of {LONG} steps needs more than one of {SHORT} is what its steps need. The floor is one for what must "
        "be on disk before the next step begins: the outcome of one step and the intent of the next share it. "
        "Steps that only compute need none of their own: what they gave is on disk before anybody sees it.",
        ("what", "syncs", "floor", "aim"),
        tuple(rows),
    )


def counting(count: Path) -> tuple[str, ...]:
    """The program that is the daemon with its syncs counted in a file."""
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
