"""Small enough to be read whole."""

import pytest

from tests.support.repository import ROOT, python_files

KERNEL_LINES = 800
FILE_LINES = 400


def lines_of(folder: str) -> dict[str, int]:
    return {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(folder)
    }


def test_the_kernel_stays_small() -> None:
    """The kernel as a whole is under 800 physical lines."""
    kernel = lines_of("aeond/kernel")
    assert kernel
    assert sum(kernel.values()) < KERNEL_LINES, kernel


@pytest.mark.parametrize("folder", ["aeond", "clients", "tests", "benchmarks", "protos"])
def test_no_file_is_longer_than_an_idea(folder: str) -> None:
    """No hand-written Python file has more than 400 lines."""
    assert {name: lines for name, lines in lines_of(folder).items() if lines > FILE_LINES} == {}
