"""The tool that runs tests several times."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.repeated import Run, read, table
from tests.support.repository import ROOT

UNSTEADY = """from pathlib import Path

def test_steady():
    pass

def test_unsteady():
    mark = Path(__file__).with_name("mark")
    seen = mark.exists()
    mark.touch()
    assert seen
"""


def test_an_unsteady_test_is_named_with_the_number_of_its_failures(tmp_path: Path) -> None:
    """Two runs of a folder, of which one fails, are a table with one green run the failed test, exit status 1 and the kept output
    of the failed run.
    """
    (tmp_path / "test_some.py").write_text(UNSTEADY, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.repeated", str(tmp_path), "2", "1", str(tmp_path / "kept")],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    head, _, counts, _, failures, _, failed = done.stdout.splitlines()
    assert head == "| runs | green | median seconds | tests | skipped |"
    assert [cell.strip() for cell in counts.split("|")[1:3]] == ["2", "1"]
    assert (failures, failed.endswith("test_some::test_unsteady` | 1 |")) == ("| failed | runs |", True)
    assert done.returncode == 1
    (kept,) = (tmp_path / "kept").iterdir()
    assert "test_unsteady" in kept.read_text(encoding="utf-8")


def test_a_run_without_tests_is_not_green(tmp_path: Path) -> None:
    """A run without a report, or in which every test was skipped, is not green."""
    nothing = read(tmp_path / "missing.xml", 1.0, 4)
    skipped = Run(1.0, 0, passed=0, skipped=9, failed=())
    assert (nothing.green, skipped.green) == (False, False)
    assert "no failed test, but pytest did not succeed" in table([nothing])
