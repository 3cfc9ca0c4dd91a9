"""Judges a model by what the daemon does with it on real requests: `python -m tests.eval [SET ...]`.

Prints how each case came out and tables with a line for each group and each language; ends with 1 when the default
model does less than a set demands. Of held cases, and of the set `open`, only the counts are printed, so that
nobody tunes to them; `--held` and `--cases` print them too. Each run of `open` is logged in docs/evaluation.md.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio

from tests.eval.ablations import MECHANISMS, without
from tests.eval.case_files import find_open
from tests.eval.engine_rates import EngineRates, measured_rates
from tests.eval.evaluation_log import PAGE, LoggedRun, append_row, commit
from tests.eval.extra_tools import MOST
from tests.eval.known_sets import OPEN, SETS, set_of_file
from tests.eval.reporting import as_json, share_of, tables
from tests.eval.subjects import EngineChoice, Subject, opened_subject
from tests.eval.verdicts import RUN_SECONDS, EvalSet, Terms, Verdict

ENGINE_FOLDER: Final = Path(".cache/eval").absolute()
USUAL: Final = ("everyday", "references")


def main() -> int:
    arguments = parser().parse_args()
    try:
        sets = chosen_sets(arguments)
    except (OSError, ValueError) as error:
        print(f"eval: {error}", file=sys.stderr)
        return 2
    return anyio.run(judge, arguments, sets)


def parser() -> argparse.ArgumentParser:
    names = ", ".join((*(one.name for one in SETS), OPEN))
    parser = argparse.ArgumentParser(
        prog="python -m tests.eval", description="Judge a model by what the daemon does with it."
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {names}; without any: {' '.join(USUAL)}")
    engine = parser.add_argument_group("which engine")
    engine.add_argument("--model", default="", help="a model of the catalogue, or of the remote server")
    engine.add_argument("--engine", default="llama_cpp", choices=["llama_cpp", "vllm"])
    engine.add_argument(
        "--remote", default="", metavar="URL", help="a server with an OpenAI-compatible interface"
    )
    engine.add_argument(
        "--hub", default="", metavar="URL", help="a model hub to download a missing model from"
    )
    engine.add_argument("--remote-key-file", default="", metavar="FILE")
    engine.add_argument(
        "--policy",
        default="trusted-folder",
        choices=["ask", "trusted-folder"],
        help="the profile of the policy; what it asks about is allowed and counted (%(default)s)",
    )
    engine.add_argument(
        "--extra-tools",
        type=int,
        default=0,
        choices=range(MOST + 1),
        metavar="N",
        help=f"register N tools of other trades as well, at most {MOST}; such a run of the set {OPEN} is not logged",
    )
    cases = parser.add_argument_group("which cases")
    cases.add_argument("--open", default="", metavar="FILE", help="the independent set (default: EVAL_OPEN)")
    cases.add_argument(
        "--set-file", action="append", default=[], metavar="FILE", help="any other file of cases"
    )
    cases.add_argument("--only", default="", metavar="PATTERN", help="cases with such words, none held")
    cases.add_argument("--group", action="append", default=[], metavar="GROUP", help="cases of this group")
    cases.add_argument("--limit", type=int, default=0, metavar="N", help="at most N cases of a set")
    cases.add_argument("--stride", type=int, default=1, metavar="N", help="every Nth case of a set")
    cases.add_argument("--parallel", type=int, default=1, metavar="N", help="N cases at once")
    cases.add_argument(
        "--without",
        action="append",
        default=[],
        choices=tuple(MECHANISMS),
        metavar="MECHANISM",
        help=f"switch this mechanism off (of {', '.join(MECHANISMS)}); such a run of the set {OPEN} is not logged",
    )
    cases.add_argument(
        "--acted-in",
        type=Path,
        metavar="FILE",
        help="with --without: only cases in which one of these mechanisms acted in the run whose --json is FILE",
    )
    cases.add_argument("--seconds", type=float, default=RUN_SECONDS, help="for each run (%(default)g)")
    output = parser.add_argument_group("what is printed")
    output.add_argument("--held", action="store_true", help="show single held cases as well")
    output.add_argument("--cases", action="store_true", help="show single cases of the set open as well")
    output.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    return parser


def chosen_sets(arguments: argparse.Namespace) -> list[EvalSet]:
    """The sets that were named; ValueError for an unknown one, OSError for a file that is not there."""
    known = {one.name: one for one in SETS}
    names = arguments.sets or (() if arguments.set_file else USUAL)
    unknown = [name for name in names if name not in known and name != OPEN]
    if unknown:
        raise ValueError(f"unknown set {unknown[0]!r}; there are {', '.join((*known, OPEN))}")
    sets = [known[name] if name != OPEN else _open_set(arguments.open) for name in names]
    files = [Path(name) for name in arguments.set_file]
    absent = [path for path in files if not path.is_file()]
    if absent:
        raise FileNotFoundError(f"there is no file {absent[0]}")
    return [*sets, *(set_of_file(path.stem, path) for path in files)]


def _open_set(named: str) -> EvalSet:
    path = Path(named or os.environ.get("EVAL_OPEN", "") or find_open())
    if not path.is_file():
        raise FileNotFoundError(
            f"the independent set is not at {path}: name its file with --open FILE or EVAL_OPEN=FILE"
        )
    return set_of_file(OPEN, path, quiet=True)


async def judge(arguments: argparse.Namespace, sets: Sequence[EvalSet]) -> int:
    """0 when every set came out as well as it must, or another model than the default was judged."""
    terms = Terms(
        arguments.only,
        arguments.seconds,
        arguments.limit,
        arguments.stride,
        max(1, arguments.parallel),
        tuple(arguments.group),
        acted_in(arguments.acted_in, arguments.without) if arguments.acted_in else None,
    )
    choice = EngineChoice(
        arguments.engine,
        arguments.model,
        arguments.remote,
        arguments.remote_key_file,
        parallel=terms.parallel,
        hub=arguments.hub,
        policy=arguments.policy,
        extra_tools=arguments.extra_tools,
    )
    report: dict[str, Any] = {}
    good = True
    with without(arguments.without):
        async with opened_subject(choice, ENGINE_FOLDER) as subject:
            rates = await measured_rates(subject.llm)
            model = f"{subject.llm.model} ({'remote' if arguments.remote else arguments.engine})"
            print(f"{model}: reads {rates.read:.0f} and writes {rates.write:.0f} tokens a second", flush=True)
            for one in sets:
                verdicts = await judge_set(one, subject, terms, arguments)
                good &= summary(one, verdicts, rates)
                shown = arguments.cases or not one.quiet
                report[one.name] = as_json(verdicts, rates, shown=shown)
                if one.name == OPEN and whole(terms) and not (choice.extra_tools or arguments.without):
                    log(model, verdicts)
    if arguments.json:
        framed = _framed(model, report) | {"without": arguments.without}
        arguments.json.write_text(json.dumps(framed, ensure_ascii=False, indent=1))
    default = not (arguments.model or arguments.remote or arguments.engine != "llama_cpp")
    return 0 if good or not default else 1


async def judge_set(
    one: EvalSet, subject: Subject, terms: Terms, arguments: argparse.Namespace
) -> Sequence[Verdict]:
    verdicts: list[Verdict] = []

    def note(verdict: Verdict) -> None:
        verdicts.append(verdict)
        quiet = (one.quiet and not arguments.cases) or (verdict.held and not arguments.held)
        print(mark(verdict) if quiet else outcome(verdict), end="" if quiet else "\n", flush=True)

    await one.judge(subject, terms, note)
    return verdicts


def mark(verdict: Verdict) -> str:
    """One character a case, where nothing else is shown."""
    return "." if verdict.right else "x"


def outcome(verdict: Verdict) -> str:
    took = verdict.effort
    cost = f"{took.calls} calls, {took.read_tokens} + {took.completion_tokens} tokens, {took.seconds:.1f} s"
    said = "right" if verdict.right else f"wrong ({verdict.failure})" if verdict.failure else "wrong"
    first = f"{said}  {verdict.group}, {verdict.language}: {verdict.case!r} -> {verdict.said} ({cost})"
    return "\n       ".join((first, *verdict.missed))


def summary(one: EvalSet, verdicts: Sequence[Verdict], rates: EngineRates) -> bool:
    """Prints the tables of a set; whether it came out as well as it must."""
    print("", "", *tables(verdicts, rates), sep="\n")
    share = share_of(verdicts)
    right = sum(v.right for v in verdicts)
    demand = f"; {one.least_share:.0%} are demanded" if one.least_share else ""
    print(f"{one.name}: {right} of {len(verdicts)}, {share:.1%}{demand}", flush=True)
    return share >= one.least_share


def whole(terms: Terms) -> bool:
    """Whether a set is judged as a whole."""
    part = terms.groups or terms.pattern or terms.limit or terms.requests is not None
    return not part and terms.stride == 1


def acted_in(report: Path, mechanisms: Sequence[str]) -> frozenset[str]:
    """The requests of an earlier report in which one of these mechanisms acted."""
    cases = [case for one in json.loads(report.read_text("utf-8"))["sets"].values() for case in one["cases"]]
    return frozenset(case["case"] for case in cases if set(mechanisms) & set(case["acted"]))


def log(model: str, verdicts: Sequence[Verdict]) -> None:
    run = LoggedRun(time.strftime("%Y-%m-%d %H:%M"), commit(), model, verdicts)
    count = append_row(PAGE, OPEN, run.row())
    print(f"logged in {PAGE.name}, which now has {count} runs of the set {OPEN}: commit it")


def _framed(model: str, report: Mapping[str, Any]) -> dict[str, Any]:
    return {"date": time.strftime("%Y-%m-%d %H:%M"), "commit": commit(), "model": model, "sets": report}


if __name__ == "__main__":
    sys.exit(main())
