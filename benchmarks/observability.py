"""The cost of metrics and of traces for a step: chains of daemons with and without them, in turn."""

from pathlib import Path

from benchmarks.contenders.aeond_in_process import STEPS
from benchmarks.contenders.aeond_observed import TURN_SECONDS
from benchmarks.measuring import OURS, Contender, Sample, in_turns
from benchmarks.page import Section, microseconds, verdict

ROUNDS = 3
MOST_PERCENT = 3.0
NAMES = {"write": "a step that writes a file", "compute": "a step that only computes"}
WAYS = {"off": "", "metrics": "metrics", "traces": "traces", "both": "metrics and traces"}
CONTENDERS = tuple(
    Contender(kind, OURS, "aeond_observed.py", (kind,), count=13, warm_up=len(WAYS)) for kind in NAMES
)


def measure(folder: Path) -> Section:
    """A step without, with metrics, with traces, and with both."""
    turns = in_turns(CONTENDERS, ROUNDS, folder)
    rows: list[tuple[str, ...]] = []
    for kind, name in NAMES.items():
        seconds = turns.whole(kind).seconds
        off, *on = (Sample(seconds[place :: len(WAYS)]).fastest_tenth for place in range(len(WAYS)))
        for way, watched in zip([*WAYS.values()][1:], on, strict=True):
            added = (watched / off - 1) * 100
            aim = "" if way == WAYS["both"] else verdict(added, at_most=MOST_PERCENT, unit="%")
            rows.append((f"{name}, {way}", microseconds(off), microseconds(watched), f"{added:.1f}%", aim))
    return Section(
        "Observability",
        "Four daemons in one process take turns: without, with metrics, with traces, and with both; a collector in another"
        f" process takes the traces. A turn is {TURN_SECONDS} s of chains of {STEPS} steps, one after another. The work for the"
        " run as a whole, and what the exports take from the chains meanwhile, is part of it. Off, there are no listeners. The"
        " figures are the tenth percentiles of the turns, which other load of the machine disturbs least.",
        ("what", "off", "on", "added", "aim"),
        tuple(rows),
    )
