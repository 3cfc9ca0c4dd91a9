"""`make bench`: runs the benchmarks and writes each section into its page below docs/ when it is complete.

usage: python -m benchmarks [--only chains,streams,...] [--print]
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks import (
    agentdojo,
    batch,
    calls,
    cancels,
    chains,
    desktop,
    door,
    engine_settings,
    engines,
    neighbours,
    observability,
    policy,
    prompts,
    rates,
    sandbox,
    startup,
    streams,
    syncs,
    walls,
    whole_requests,
)
from benchmarks.measuring import ROOT
from benchmarks.page import PERFORMANCE, Section, render, replaced

PAGES = ROOT / "docs"
MEASUREMENTS: dict[str, Callable[[Path], Section]] = {
    "chains": chains.measure,
    "syncs": syncs.measure,
    "streams": streams.measure,
    "door": door.measure,
    "neighbours": neighbours.measure,
    "startup": startup.measure,
    "calls": calls.measure,
    "sandbox": sandbox.measure,
    "policy": policy.measure,
    "observability": observability.measure,
    "steps": policy.measure_steps,
    "agentdojo": agentdojo.measure,
    "walls": walls.measure,
    "batch": batch.measure,
    "prompts": prompts.measure,
    "engines": engines.measure,
    "settings": engine_settings.measure,
    "rates": rates.measure,
    "requests": whole_requests.measure,
    "cancels": cancels.measure,
    "desktop": desktop.measure,
}


def main() -> None:
    arguments = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure, then write the page."
    )
    arguments.add_argument(
        "--only", default=",".join(MEASUREMENTS), help="some of: " + ", ".join(MEASUREMENTS)
    )
    arguments.add_argument("--print", action="store_true", help="write nothing into the page")
    chosen = arguments.parse_args()
    # Below the repository, so that the measured disk is the one used for development.
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=ROOT) as folder:
        for name in chosen.only.split(","):
            print(f"Measuring {name}", flush=True)
            own = Path(folder) / name
            own.mkdir()
            section = replace(MEASUREMENTS[name](own), name=name)
            print(render([section]), flush=True)
            if not chosen.print:
                page = PAGES / section.page
                before = page.read_text(encoding="utf-8")
                own = section.page == PERFORMANCE
                page.write_text(
                    render([section], before) if own else replaced(section, before), encoding="utf-8"
                )
                print(f"Wrote {page.relative_to(ROOT)}", flush=True)


if __name__ == "__main__":
    main()
