"""Writes the tables of expensive tests in docs/testing.md: `python -m tests.support.durations FILE.xml ...`.

The files are JUnit reports, as `make check` leaves them in .cache.
"""

import datetime as dt
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree as ET

from tests.support.repository import ROOT

PAGE: Final = ROOT / "docs" / "testing.md"
LISTED: Final = 25
_TABLES: Final = re.compile(r"(<!-- durations -->\n).*(<!-- end of durations -->)", re.DOTALL)


class Test(NamedTuple):
    """A test with the seconds of its setup, call and teardown."""

    seconds: float
    module: str
    name: str


def read(reports: Iterable[Path]) -> list[Test]:
    """All tests of these reports."""
    return [
        Test(float(case.attrib["time"]), case.attrib["classname"], case.attrib["name"])
        for report in reports
        for case in ET.parse(report).iter("testcase")
    ]


def tables(tests: Iterable[Test]) -> str:
    """The seconds of each folder, of the most expensive files, and of the most expensive tests."""
    folders, files = defaultdict[str, list[Test]](list), defaultdict[str, list[Test]](list)
    for test in tests:
        folders[test.module.split(".")[1]].append(test)
        files[test.module].append(test)
    single = sorted((test for group in files.values() for test in group), reverse=True)
    rows = [(_path(test.module), f"`{test.name}`", f"{test.seconds:.1f}") for test in single[:LISTED]]
    return "\n".join(
        (
            _table(("folder", "tests", "seconds"), _sums(folders)),
            _table(
                ("file", "tests", "seconds"), [(_path(name), *sums) for name, *sums in _sums(files)[:LISTED]]
            ),
            _table(("file", "test", "seconds"), rows),
        )
    )


def _sums(groups: dict[str, list[Test]]) -> list[tuple[str, str, str]]:
    by_cost = sorted(groups.items(), key=lambda group: -sum(test.seconds for test in group[1]))
    return [(name, f"{len(group)}", f"{sum(test.seconds for test in group):.0f}") for name, group in by_cost]


def _path(module: str) -> str:
    return f"`{'/'.join(module.split('.')[1:])}`"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def with_tables(page: str, tests: Iterable[Test], head: str) -> str:
    """The page with its tables replaced, below a line that says when they were measured."""
    found = f"{head}\n\n{tables(tests)}"
    return _TABLES.sub(lambda match: f"{match[1]}{found}{match[2]}", page)


def main() -> None:
    today = dt.datetime.now(tz=dt.UTC).date()
    head = f"Measured on {today} with `make check`, {os.cpu_count()} cores. Tests run in several processes: sums exceed the time passed."
    page = with_tables(PAGE.read_text(encoding="utf-8"), read(map(Path, sys.argv[1:])), head)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
