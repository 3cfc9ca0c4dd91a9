"""The cost of metrics and of traces for a step: chains of daemons with and without them, in turn."""

import statistics
from pathlib import Path

from benchmarks.contenders.aeond_in_process import STEPS
from benchmarks.contenders.aeond_observed import IN_A_ROW, TURNS, WAYS
from benchmarks.measuring import OURS, Contender, in_turns
from benchmarks.page import Section, microseconds, verdict

BLOCKS = 5
# Two processes of the same program differ by a few per cent for as long as they live, which is as much as is to be measured in a
# step that only computes.
ROUNDS = {"write": 3, "compute": 12}
MOST_PERCENT = 3.0
NAMES = {"write": "a step that writes a file", "compute": "a step that only computes"}
FIGURES = 1 + len(WAYS)  # of a block


def measure(folder: Path) -> Section:
    """A step without, with metrics, with traces, and with both."""
    rows: list[tuple[str, ...]] = []
    for kind, name in NAMES.items():
        chains = Contender(kind, OURS, "aeond_observed.py", (kind,), count=1 + BLOCKS, warm_up=FIGURES)
        figures = in_turns((chains,), ROUNDS[kind], folder).whole(kind).seconds
        steps, off, *on = (figures[place::FIGURES] for place in range(FIGURES))
        for way, watched in zip(WAYS[1:], on, strict=True):
            differences = [(one - bare) * 1e6 for one, bare in zip(watched, off, strict=True)]
            low, _, high = statistics.quantiles(differences, n=4)
            more = statistics.median(differences) / 1e6
            added = more / statistics.median(steps) * 100
            rows.append(
                (
                    f"{name}, {'metrics and traces' if way == 'both' else way}",
                    microseconds(statistics.median(steps)),
                    f"{more * 1e6:.1f} us ({low:.0f} to {high:.0f})",
                    f"{added:.1f}%",
                    verdict(added, at_most=MOST_PERCENT, unit="%"),
                )
            )
    return Section(
        "Observability",
        f"Four daemons, each in a process of its own, take turns of {IN_A_ROW} chains of {STEPS} steps: without, with metrics,"
        " with traces, and with both; a collector in another process takes the traces. What is added is processor time of the"
        " daemon's process for a step, whatever it is taken for, and its share of the time of a step without; the median over"
        f" {BLOCKS} blocks of {TURNS} turns of each of {ROUNDS['write']} (for the step that writes) or {ROUNDS['compute']} sets of"
        " daemons, with the range of the middle half of the blocks. The work for a run as a whole and the exports, also between"
        " turns, are part of it. Off, there are no listeners.",
        ("what", "a step without", "added", "share", "aim"),
        tuple(rows),
    )
