"""The targets of the Makefile."""

import re
import subprocess

import pytest

from tests.support.repository import ROOT, occurrences, python_files

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


def test_only_files_of_tests_mark_tests_of_an_engine() -> None:
    """Marks of engines are in the files of the tests, where the Makefile looks for what it runs with an engine."""
    mark = re.compile(r"mark\.(model|vllm)\b")
    others = [path for path in python_files("tests") if not path.name.startswith("test_")]
    assert occurrences(mark, others) == []
