"""The cost of metrics and traces for a step: chains of daemons with and without them, in turn."""

import statistics
from pathlib import Path

from benchmarks.contenders.aeond_in_process import STEPS
from benchmarks.contenders.aeond_observed import IN_A_ROW
from benchmarks.measuring import OURS, Contender, in_turns
from benchmarks.page import Section, microseconds, verdict

ROUNDS = 3
MOST_PERCENT = 3.0
NAMES = {"write": "a step that writes a file", "compute": "a step that only computes"}
WAYS = ("off", "metrics", "metrics and traces")
CONTENDERS = tuple(
    Contender(kind, OURS, "aeond_observed.py", (kind,), count=33, warm_up=3 * len(WAYS)) for kind in NAMES
)


def measure(folder: Path) -> Section:
    """A step without, with metrics, and with metrics and traces."""
    turns = in_turns(CONTENDERS, ROUNDS, folder)
    rows: list[tuple[str, ...]] = []
    for kind, name in NAMES.items():
        seconds = turns.whole(kind).seconds
        off, *on = (seconds[place :: len(WAYS)] for place in range(len(WAYS)))
        for way, watched in zip(WAYS[1:], on, strict=True):
            pairs = zip(watched, off, strict=True)
            added = (statistics.median(one / bare for one, bare in pairs) - 1) * 100
            rows.append(
                (
                    f"{name}, {way}",
                    microseconds(statistics.median(off)),
                    microseconds(statistics.median(watched)),
                    f"{added:.1f}%",
                    verdict(added, at_most=MOST_PERCENT, unit="%"),
                )
            )
    return Section(
        "Observability",
        f"Three daemons in one process take turns: without, with metrics, and with metrics and traces that a collector in"
        f" another process takes. A turn is {IN_A_ROW} chains of {STEPS} steps, one after another; what is added is the median"
        " over adjacent turns. The work for the run as a whole, and what the exports take from the chains meanwhile, is part of"
        " it. Off, there are no listeners.",
        ("what", "off", "on", "added", "aim"),
        tuple(rows),
    )
