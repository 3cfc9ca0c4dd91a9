"""The table of clients and cases in docs/clients.md: `python -m tests.support.conformance_table` runs the suite and writes it."""

import platform
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import pytest

from tests.support.conformance import CASES, Case
from tests.support.conformance_serving import SERVING, ServingCase
from tests.support.repository import ROOT
from tests.support.stubs import STUBS, Stub

PAGE = ROOT / "docs" / "clients.md"
BEGIN, END = "<!-- conformance -->\n", "<!-- end -->"
MARKS = {"passed": "✓", "failed": "✗", "skipped": "not run"}
VERSIONS = ("node --version", "go version", "c++ --version", "bash --version")

Outcome = Callable[[Stub, Case], str]


class Outcomes:
    """The outcome of each client in each case, a key of MARKS, by a report of pytest."""

    def __init__(self, report: Path) -> None:
        self._found = {
            case.get("name", ""): "skipped"
            if case.find("skipped") is not None
            else "failed"
            if len(case)
            else "passed"
            for case in ET.parse(report).getroot().iter("testcase")
        }

    def of(self, stub: Stub, case: Case) -> str:
        serving = isinstance(case, ServingCase)
        test = "test_a_client_that_serves_tools_conforms" if serving else "test_a_client_conforms"
        return self._found.get(f"{test}[{stub.name}-{case}]", "skipped")


def with_table(page: str, outcome: Outcome, run: str) -> str:
    """The page with the table of these outcomes; `run` says which run of the suite it shows."""
    names = [stub.name for stub in STUBS]
    rows = [["case", *names], ["---"] * (len(names) + 1)]
    rows += [
        [f"**{case.name}**: {case.about}", *(_cell(stub, case, outcome) for stub in STUBS)]
        for case in (*CASES, *SERVING)
    ]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}{table}\n{run}\n{END}", page, flags=re.DOTALL)


def as_passed(page: str) -> str:
    """The page as a run of the present suite in which every client passes would leave it."""
    (run,) = re.findall(f"\n\n([^\n]+)\n{END}", page)
    return with_table(page, lambda _stub, _case: "passed", run)


def _cell(stub: Stub, case: Case, outcome: Outcome) -> str:
    """Where a client has no reason for an error, its exit status is checked, or the reason of all failures."""
    note = ""
    if isinstance(case, ServingCase) and stub.serves_as:
        return f"as {stub.serves_as}"
    if case.closes and not stub.closes:
        return "no close"
    if isinstance(case, ServingCase):
        failures = stub.failures[0] if case.happens == "calls" and stub.failures else ""
        note = failures or ("killed" if case.happens == "cancel" and stub.kills else "")
    elif case.error and not stub.has_reasons:
        note = f"exit {case.exit}"
    found = outcome(stub, case)
    return f"{MARKS[found]} {note if found == 'passed' else ''}".rstrip()


def _run() -> str:
    versions = [f"Python {platform.python_version()}"]
    for words in VERSIONS:
        done = subprocess.run(words.split(), capture_output=True, text=True, check=False)
        program, version = words.split()[0], re.search(r"\d+(\.\d+)+", done.stdout)
        versions += [f"{program} {version[0]}"] if version else []
    return f"Run on {datetime.now(UTC):%Y-%m-%d} with {', '.join(versions)}."


def main() -> int:
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        suite = [sys.executable, "-m", "pytest", "tests/conformance", "-q", "--junitxml", str(report)]
        status = subprocess.run(suite, cwd=ROOT, check=False).returncode
        if status not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            return status
        page = with_table(PAGE.read_text(encoding="utf-8"), Outcomes(report).of, _run())
    PAGE.write_text(page, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
