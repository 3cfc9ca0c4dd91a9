"""The cost of metrics and of traces for a step: chains of a daemon that hears its events, and does not, in turn."""

import statistics
from itertools import product
from pathlib import Path

from benchmarks.contenders.aeond_in_process import STEPS
from benchmarks.contenders.aeond_observed import IN_A_ROW, WAYS
from benchmarks.measuring import OURS, Contender, in_turns
from benchmarks.page import Section, microseconds, verdict

ROUNDS = 3
BLOCKS = {"write": 3, "compute": 24}  # of a round
MOST_PERCENT = 3.0
NAMES = {"write": "a step that writes a file", "compute": "a step that only computes"}
SHOWN = {"metrics": "metrics", "traces": "traces", "both": "metrics and traces"}
FIGURES = 3  # of a block


def measure(folder: Path) -> Section:
    """A step without, with metrics, with traces, and with both."""
    contenders = {
        (kind, way): Contender(
            f"{kind}, {way}", OURS, "aeond_observed.py", (kind, way), count=1 + BLOCKS[kind], warm_up=FIGURES
        )
        for kind, way in product(NAMES, WAYS)
    }
    measured = in_turns(tuple(contenders.values()), ROUNDS, folder)
    rows: list[tuple[str, ...]] = []
    for (kind, way), contender in contenders.items():
        figures = measured.whole(contender.name).seconds
        steps, off, on = (figures[place::FIGURES] for place in range(FIGURES))
        differences = [(watched - bare) * 1e6 for watched, bare in zip(on, off, strict=True)]
        low, more, high = statistics.quantiles(differences, n=4)
        added = more / 1e4 / statistics.median(steps)
        rows.append(
            (
                f"{NAMES[kind]}, {SHOWN[way]}",
                microseconds(statistics.median(steps)),
                f"{more:.1f} us ({low:.0f} to {high:.0f})",
                f"{added:.1f}%",
                verdict(added, at_most=MOST_PERCENT, unit="%"),
            )
        )

    return Section(
        "Observability",
        f"A daemon takes turns of {IN_A_ROW} chains of {STEPS} steps, in which its metrics, its traces or both hear no event, or all:"
        " without, with, with, without. A collector in another process takes the traces, in a request that is full of spans, before the"
        " last of these turns is over. What is added is processor time of the daemon's process for a step, whatever it is taken for,"
        f" and its share of the time of a step without; the median over {BLOCKS['write']} (for the step that writes) or"
        f" {BLOCKS['compute']} such blocks in each of {ROUNDS} processes, with the range of the middle half of the blocks. Two processes"
        " of the same program differ by a few per cent for as long as they live, so that one process is compared with itself. The work for a"
        " run as a whole is part of it. Without, the listeners return at once; a daemon whose metrics and traces are off has none.",
        ("what", "a step without", "added", "share", "aim"),
        tuple(rows),
    )
