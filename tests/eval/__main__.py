"""Judges a real model by what it does with real requests: `python -m tests.eval [--model NAME] [SET ...]`.

Prints how each case came out, and for each set a table with a line for each group; ends with 1 when the default
model does less than a set asks for. Of cases that are held aside only the counts are printed, so that nobody
tunes to them unawares; `--held` prints them too.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import anyio

from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose_engine import OPENED
from aeond.daemon.config import Config
from aeond.daemon.paths import paths_of
from aeond.domain.llm import LLMRequest, Priority
from aeond.ports import LLMAdapter
from tests.eval.reporting import share_of, table
from tests.eval.sets import SETS
from tests.eval.verdicts import RUN_SECONDS, EvalSet, Terms, Verdict
from tests.eval.workplaces import Way, Workplace


def main() -> int:
    chosen = argparse.ArgumentParser(description="Judge a model by what it does with real requests.")
    chosen.add_argument("--model", default="", help="a model of the catalogue; without it the default")
    chosen.add_argument("sets", nargs="*", choices=[[], *(s.name for s in SETS)], help="without any: all")
    chosen.add_argument("--held", action="store_true", help="print single outcomes of held cases as well")
    chosen.add_argument("--only", default="", metavar="PATTERN", help="cases with such words, none held")
    chosen.add_argument(
        "--seconds", type=float, default=RUN_SECONDS, help="how long a run may work (%(default)g)"
    )
    arguments = chosen.parse_args()
    terms = Terms(arguments.only, arguments.seconds)
    sets = [s for s in SETS if not arguments.sets or s.name in arguments.sets]
    return anyio.run(judge, arguments.model, sets, arguments.held, terms)


async def judge(model: str, sets: list[EvalSet], show_held: bool, terms: Terms) -> int:
    """0 when every set came out as well as it must, or another model than the default was judged."""
    with tempfile.TemporaryDirectory(prefix="aeond-eval-") as folder:
        place = Path(folder)
        config = Config.model_validate(
            {
                "daemon": {"state_dir": str(place / "state")},
                "socket": {"path": str(place / "aeond.sock")},
                "model": {"name": model},
            }
        )
        paths = paths_of(config, place / "aeond.toml")
        paths.make()
        async with OPENED[config.model.engine](config, paths, SystemClock()) as (llm, _):
            await read_ahead(llm)
            good = [await judge_set(one, llm, show_held, terms) for one in sets]
    return 0 if all(good) or model else 1


async def read_ahead(llm: LLMAdapter) -> None:
    """What prompts usually begin with, as the daemon has it read when its engine is up."""
    with tempfile.TemporaryDirectory(prefix="aeond-eval-") as folder:
        for opening in Workplace(llm, Path(folder), Way.ROUTED).openings():
            request = LLMRequest(opening, max_tokens=1, priority=Priority.BACKGROUND, deadline_seconds=3_600)
            await llm.generate(request)


async def judge_set(one: EvalSet, llm: LLMAdapter, show_held: bool, terms: Terms) -> bool:
    verdicts: list[Verdict] = []
    async for verdict in one.judge(llm, terms):
        verdicts.append(verdict)
        if show_held or not verdict.held:
            print("\n       ".join(outcome(verdict)), flush=True)
    print("", *table(verdicts), sep="\n")
    share = share_of(verdicts)
    right = sum(not v.missed for v in verdicts)
    print(
        f"{one.name}: {right} of {len(verdicts)}, {share:.1%}; {one.least_share:.0%} are wanted", flush=True
    )
    return share >= one.least_share


def outcome(verdict: Verdict) -> tuple[str, ...]:
    mark, took = "wrong" if verdict.missed else "right", verdict.effort
    cost = f"{took.calls} calls, {took.read_tokens} + {took.written_tokens} tokens, {took.seconds:.1f} s"
    return f"{mark}  {verdict.group}: {verdict.case!r} -> {verdict.said} ({cost})", *verdict.missed


if __name__ == "__main__":
    sys.exit(main())
