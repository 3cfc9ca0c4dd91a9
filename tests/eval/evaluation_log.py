"""The generated tables of docs/evaluation.md: a line for each run of the open set, a line for each ablation."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.eval.reporting import percentile
from tests.eval.verdicts import Verdict
from tests.support.repository import ROOT

PAGE: Final = ROOT / "docs" / "evaluation.md"
LANGUAGES: Final = ("en", "de", "es", "fr", "pl")


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """The figures of one run of a set."""

    date: str
    commit: str
    model: str
    verdicts: Sequence[Verdict]

    def row(self) -> str:
        """A line of the table."""
        seconds = [v.effort.seconds for v in self.verdicts]
        calls = sum(v.effort.calls for v in self.verdicts) / max(1, len(self.verdicts))
        cells = [
            self.date,
            self.commit,
            self.model,
            _counted(self.verdicts),
            *(_counted([v for v in self.verdicts if v.language == one]) for one in LANGUAGES),
            f"{percentile(seconds, 0.5):.1f}",
            f"{percentile(seconds, 0.95):.1f}",
            f"{calls:.1f}",
        ]
        return f"| {' | '.join(cells)} |"


def append_row(page: Path, mark: str, row: str) -> int:
    """Appends a row to the table that ends before the comment `<!-- end: MARK -->`; returns how many rows it has."""
    before, end, after = page.read_text("utf-8").partition(f"<!-- end: {mark} -->")
    if not end:
        raise ValueError(f"{page} has no table that ends with <!-- end: {mark} -->")
    page.write_text(f"{before}{row}\n{end}{after}", encoding="utf-8")
    table = before.rpartition("\n\n")[2]
    return table.count("\n") - 2 + 1  # header and rule are not runs


def commit() -> str:
    """The commit that is checked out; a plus sign marks changes on top of it."""
    command = ["git", "describe", "--always", "--exclude=*", "--dirty=+"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _counted(verdicts: Sequence[Verdict]) -> str:
    return f"{sum(v.right for v in verdicts)}/{len(verdicts)}"
