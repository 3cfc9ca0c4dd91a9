"""Judges a real model by what it does with real requests: `python -m tests.eval [--model NAME] [SET ...]`.

Prints each case that came out wrong and the count per group; ends with 1 when the default model does less
than a set asks for. No set is tuned to by hand: what is wrong stays listed.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import anyio

from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose_engine import OPENED
from aeond.daemon.config import Config
from aeond.daemon.paths import paths_of
from aeond.ports import LLMAdapter
from tests.eval.sets import SETS
from tests.eval.verdicts import EvalSet, Verdict


def main() -> int:
    chosen = argparse.ArgumentParser(description="Judge a model by what it does with real requests.")
    chosen.add_argument("--model", default="", help="a model of the catalogue; without it the default")
    chosen.add_argument("sets", nargs="*", choices=[[], *(s.name for s in SETS)], help="without any: all")
    arguments = chosen.parse_args()
    sets = [s for s in SETS if not arguments.sets or s.name in arguments.sets]
    return anyio.run(judge, arguments.model, sets)


async def judge(model: str, sets: list[EvalSet]) -> int:
    """0 when every set came out as well as it must, or another model than the default was judged."""
    with tempfile.TemporaryDirectory(prefix="aeond-eval-") as folder:
        place = Path(folder)
        config = Config.model_validate(
            {
                "daemon": {"state_dir": str(place / "state")},
                "socket": {"path": str(place / "aeond.sock")},
                "model": {"name": model, "parallel_requests": 1},
            }
        )
        paths = paths_of(config, place / "aeond.toml")
        paths.make()
        async with OPENED[config.model.engine](config, paths, SystemClock()) as (llm, _):
            good = [await judge_set(one, llm) for one in sets]
    return 0 if all(good) or model else 1


async def judge_set(one: EvalSet, llm: LLMAdapter) -> bool:
    verdicts: list[Verdict] = []
    async for verdict in one.judge(llm):
        verdicts.append(verdict)
        mark = "wrong" if verdict.missed else "right"
        print(f"{mark}  {verdict.group}: {verdict.case!r} -> {verdict.said}", flush=True)
        for missed in verdict.missed:
            print(f"       {missed}", flush=True)
    right, all_of_them = (
        Counter(v.group for v in verdicts if not v.missed),
        Counter(v.group for v in verdicts),
    )
    for group, count in all_of_them.items():
        print(f"{one.name} {group}: {right[group]} of {count}")
    share = right.total() / max(1, len(verdicts))
    print(f"{one.name}: {right.total()} of {len(verdicts)}, {share:.1%}; {one.least_share:.0%} are wanted")
    return share >= one.least_share


if __name__ == "__main__":
    sys.exit(main())
