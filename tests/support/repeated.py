"""Runs the tests of a folder several times and prints a table: `python -m tests.support.repeated FOLDER TIMES [PROCESSES [KEPT]]`.

Each run shares its files among so many processes, 1 by default. Exits with 0 if every run was green. The output of a run that was not is kept in the folder KEPT, .cache/repeated by default.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO
from xml.etree import ElementTree as ET

from tests.support.repository import ROOT

KEPT = ROOT / ".cache" / "repeated"
_DEADLINE_SECONDS = 1_800.0
_LEFT_OUT = "not (nightly or gpu or systemd)"


@dataclass(frozen=True)
class Run:
    """One run of the tests: the tests that passed and were skipped, the names of those that failed, and its duration. A run
    that executes nothing, or that pytest itself ends with an error, is not green.
    """

    seconds: float
    status: int
    passed: int
    skipped: int
    failed: tuple[str, ...]

    @property
    def green(self) -> bool:
        return self.status == 0 and self.passed > 0 and not self.failed


def read(report: Path, seconds: float, status: int) -> Run:
    """The run with this report of pytest; without a report nothing was executed."""
    cases = list(ET.parse(report).iter("testcase")) if report.exists() else []
    ended = {(case.get("classname", ""), case.get("name", "")): {part.tag for part in case} for case in cases}
    failed = [f"{place}::{name}" for (place, name), tags in ended.items() if tags & {"failure", "error"}]
    skipped = sum("skipped" in tags for tags in ended.values())
    return Run(seconds, status, len(ended) - len(failed) - skipped, skipped, tuple(failed))


def table(runs: Sequence[Run]) -> str:
    """All runs in one row, and the failures with their counts."""
    green = [run for run in runs if run.green]
    seconds = statistics.median(run.seconds for run in runs)
    skipped = max(run.skipped for run in runs)
    tests = max(run.passed + len(run.failed) for run in runs)
    rows = [
        ("runs", "green", "median seconds", "tests", "skipped"),
        ("---",) * 5,
        (str(len(runs)), str(len(green)), f"{seconds:.1f}", str(tests), str(skipped)),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    names = Counter(name for run in runs for name in run.failed)
    names.update(
        "no failed test, but pytest did not succeed" for run in runs if not run.green and not run.failed
    )
    if names:
        lines += ["", "| failed | runs |", "| --- | --- |"]
        lines += [f"| `{name}` | {count} |" for name, count in names.most_common()]
    return "\n".join(lines) + "\n"


def run_once(folder: str, kept: Path, processes: int = 1) -> Run:
    """Runs the tests of the folder in so many processes of their own, and keeps the output in this file unless the run is
    green."""
    with TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        words = [sys.executable, "-m", "pytest", "-q", folder, "-m", _LEFT_OUT, "--junitxml", str(report)]
        if processes > 1:
            words += ["--numprocesses", str(processes), "--dist", "loadfile"]
        output = Path(place) / "output.txt"
        began = time.monotonic()
        with output.open("wb") as written:
            status = _status(words, written)
        run = read(report, time.monotonic() - began, status)
        if not run.green:
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(output, kept)
    return run


def _status(words: list[str], output: BinaryIO) -> int:
    """The exit status of a program, -1 if it was still running at the deadline."""
    try:
        return subprocess.run(
            words, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False, timeout=_DEADLINE_SECONDS
        ).returncode
    except subprocess.TimeoutExpired:
        return -1


def main(folder: str, times: int, processes: int, kept: Path) -> int:
    runs = []
    for number in range(1, times + 1):
        output = kept / f"{os.getpid()}-{number}.txt"
        runs.append(run_once(folder, output, processes))
        words = "green" if runs[-1].green else f"not green: {output}"
        print(f"run {number} of {times}: {runs[-1].seconds:.1f} s, {words}", file=sys.stderr, flush=True)
    print(table(runs), end="")
    return 0 if all(run.green for run in runs) else 1


if __name__ == "__main__":
    processes = int(sys.argv[3]) if sys.argv[3:] else 1
    sys.exit(main(sys.argv[1], int(sys.argv[2]), processes, Path(sys.argv[4]) if sys.argv[4:] else KEPT))
