"""Small enough to be read whole."""

from pathlib import Path

import pytest

from tests.support.code_lines import code_lines
from tests.support.repository import ROOT, python_files, source_files

KERNEL_LINES = 800
FILE_LINES = 400


def lines_of(folder: str) -> dict[str, int]:
    return {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in source_files(folder)
    }


def test_lines_of_code_are_counted(tmp_path: Path) -> None:
    """Blank lines, comments and docstrings are no lines of code; each line of a long statement is one."""
    source = tmp_path / "source.py"
    source.write_text(
        '"""A text\nof two lines."""\n\n# a comment\nx = (\n    1,\n)\n\n\ndef f():\n    """Text."""\n'
    )
    assert code_lines(source) == 4


def test_the_kernel_stays_small() -> None:
    """Kernel and state machine together hold less than 800 lines of code."""
    counted = {path.name: code_lines(path) for path in python_files("aeond/kernel", "aeond/state_machine")}
    assert sum(counted.values()) < KERNEL_LINES, counted


@pytest.mark.parametrize("folder", ["aeond", "clients", "tests", "benchmarks", "protos"])
def test_no_file_is_longer_than_an_idea(folder: str) -> None:
    """No Python file has more than 400 lines; those of aeond/api, which protoc writes, do not count."""
    assert {name: lines for name, lines in lines_of(folder).items() if lines > FILE_LINES} == {}
