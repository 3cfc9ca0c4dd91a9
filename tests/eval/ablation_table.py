"""The table of ablations, from reports of `python -m tests.eval`: `python -m tests.eval.ablation_table WITH.json WITHOUT.json ...`.

Each line compares the requests of one report, which `--without` a mechanism made, with the same requests in the first one.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

HEAD: Final = "| without | requests | right with | right without | seconds with | seconds without |"
RULE: Final = "| --- | --- | --- | --- | --- | --- |"


def rows(whole: Mapping[str, Any], ablated: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each ablated report. Seconds are the mean of a request."""
    before = {case["case"]: case for case in _cases(whole)}
    yield from (HEAD, RULE)
    for report in ablated:
        after = [case for case in _cases(report) if case["case"] in before]
        same = [before[case["case"]] for case in after]
        cells = (
            ", ".join(report["without"]),
            len(after),
            _right(same),
            _right(after),
            _mean(same),
            _mean(after),
        )
        yield f"| {' | '.join(map(str, cells))} |"


def _cases(report: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [case for one in report["sets"].values() for case in one["cases"]]


def _right(cases: Sequence[Mapping[str, Any]]) -> int:
    return sum(case["right"] for case in cases)


def _mean(cases: Sequence[Mapping[str, Any]]) -> float:
    total: float = sum(case["seconds"] for case in cases)
    return round(total / max(1, len(cases)), 1)


if __name__ == "__main__":
    first, *others = [json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:]]
    sys.stdout.write("\n".join(rows(first, others)) + "\n")
