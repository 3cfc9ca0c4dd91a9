"""The targets of the Makefile."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

PROMISED = (
    "setup", "demo", "run", "check", "test", "lint", "type", "arch", "proto", "bench", "eval", "accept", "nightly",
    "system-test", "install", "deb", "uninstall",
)  # fmt: skip


@pytest.fixture(scope="module")
def help_text() -> str:
    return subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("target", PROMISED)
def test_help_explains_the_target(help_text: str, target: str) -> None:
    """`make help` has a line for each thing that can be made, and says what it does."""
    assert re.search(rf"^  make {target} +\S.{{10,}}$", help_text, re.MULTILINE)


def test_every_target_of_the_makefile_is_in_help(help_text: str) -> None:
    """`make help` lists every target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    (names,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert [name for name in names.split() if f"make {name} " not in help_text] == []


@pytest.mark.parametrize(
    ("line", "passes"), [("pytestmark = pytest.mark.vllm", True), ("pytestmark = MARKED", False)]
)
def test_tests_of_an_engine_are_where_the_makefile_finds_them(
    tmp_path: Path, line: str, passes: bool
) -> None:
    """The collection fails if a test has the mark of an engine and its file does not name it."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    vllm\n")
    (tmp_path / "marks.py").write_text("import pytest\n\nMARKED = pytest.mark.vllm\n")
    (tmp_path / "test_it.py").write_text(
        f"import pytest\nfrom marks import MARKED\n\n{line}\n\n\ndef test_it():\n    pass\n"
    )
    options = (
        "-p",
        "tests.support.engine_marks",
        "-p",
        "no:cacheprovider",
        "--collect-only",
        "-q",
        "-m",
        "vllm",
    )
    found = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert (found.returncode == 0) is passes, found.stdout + found.stderr
    assert ("ENGINE_TESTS" in found.stderr + found.stdout) is not passes
