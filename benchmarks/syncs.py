"""How often the disk is asked to sync: a count, so it holds on any machine."""

import asyncio
import sys
from pathlib import Path

from benchmarks.contenders.aeond_chain import STEPS
from benchmarks.contenders.aeond_chain import measure as run_chains
from benchmarks.contenders.counting_daemon import COUNT, counter
from benchmarks.daemon import running_daemon
from benchmarks.page import Section, verdict

CHAINS = 20


def measure(folder: Path) -> Section:
    """Syncs of whole chains, divided by their steps."""
    count = folder / "syncs"
    shared = counter(count)
    program = (sys.executable, "-m", "benchmarks.contenders.counting_daemon", str(count))
    with running_daemon(folder, program) as daemon:
        asyncio.run(run_chains(daemon.socket, 1))
        (before,) = COUNT.unpack_from(shared)
        asyncio.run(run_chains(daemon.socket, CHAINS))
        (after,) = COUNT.unpack_from(shared)
    chain = (after - before) / CHAINS
    step = chain / STEPS
    return Section(
        "Syncs",
        f"Counted below SQLite while {CHAINS} chains of ten pure steps ran, journal and memory together; the "
        "floor is one for what must be on disk before the next step begins.",
        ("what", "syncs", "floor", "aim"),
        (
            ("a chain, from request to answer", f"{chain:.1f}", f"{STEPS}", ""),
            ("a pure step, its share of all that", f"{step:.2f}", "1", verdict(step, at_most=1.5)),
        ),
    )
