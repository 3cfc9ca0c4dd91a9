"""`make bench`: everything is measured in one run, then docs/performance.md is written.

usage: python -m benchmarks [--only chains,streams,...] [--print]
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import batch, calls, cancels, chains, door, engines, prompts, startup, streams, syncs
from benchmarks.measuring import ROOT
from benchmarks.page import Section, render

PAGE = ROOT / "docs" / "performance.md"
MEASUREMENTS: dict[str, Callable[[Path], Section]] = {
    "chains": chains.measure,
    "syncs": syncs.measure,
    "streams": streams.measure,
    "door": door.measure,
    "startup": startup.measure,
    "calls": calls.measure,
    "batch": batch.measure,
    "prompts": prompts.measure,
    "engines": engines.measure,
    "cancels": cancels.measure,
}


def main() -> None:
    arguments = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure, then write the page."
    )
    arguments.add_argument(
        "--only", default=",".join(MEASUREMENTS), help="some of: " + ", ".join(MEASUREMENTS)
    )
    arguments.add_argument("--print", action="store_true", help="print the page and write nothing")
    chosen = arguments.parse_args()
    sections = []
    # Below the repository, so that the disk that is measured is the one people work on.
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=ROOT) as folder:
        for name in chosen.only.split(","):
            print(f"Measuring {name}", flush=True)
            own = Path(folder) / name
            own.mkdir()
            sections.append(MEASUREMENTS[name](own))
    page = render(sections)
    if chosen.print:
        print(page)
    else:
        PAGE.write_text(page, encoding="utf-8")
        print(f"Wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
