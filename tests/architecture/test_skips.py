"""Whether a test that could not run is noticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

TESTS = """
import pytest

@pytest.mark.skipif(True, reason="there is no moon")
def test_one():
    pass

@pytest.mark.xfail(strict=True)
def test_other():
    raise ValueError
"""


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_a_skip_is_a_failure_in_ci_alone(tmp_path: Path, ci: str, code: int) -> None:
    """With CI=true a skipped test fails the run and says what was lacking; elsewhere it is passed over."""
    (tmp_path / "test_moon.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").touch()
    words = [sys.executable, "-m", "pytest", "-p", "tests.support.skips", "-rs"]
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)}
    completed = subprocess.run(
        words, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True, timeout=60
    )
    seen = (completed.returncode, "there is no moon" in completed.stdout, "1 xfailed" in completed.stdout)
    assert seen == (code, True, True), completed.stdout
