"""The commands that test a repository, found by the names of its files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from aeond.capabilities.aider.tests_found import is_test, usual_program, usual_test

PLAIN = b"def test_it():\n    assert True\n"
CASES = b"class A(unittest.TestCase): ..."


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"test_a.py": CASES, "a.py": b""}, "python3 -m unittest"),
        ({"tests/test_a.py": CASES}, "python3 -m unittest discover -s tests"),
        (
            {"tests/test_a.py": CASES, "more/b_test.py": CASES},
            "python3 -m unittest more/b_test.py tests/test_a.py",
        ),
        ({"a_test.py": CASES}, "python3 -m unittest a_test.py"),
        ({"tests/test_a.py": PLAIN, "tests/conftest.py": b""}, "python3 -m pytest -q"),
        ({"tests/conftest.py": b"", "tests/__init__.py": b""}, ""),
        ({"src/deep/test_a.py": CASES, "a.py": b""}, ""),
        ({"a_test.go": b""}, ""),
        ({"readme.md": b""}, ""),
        ({}, ""),
    ],
)
def test_a_command_is_found_by_names(files: Mapping[str, bytes], command: str) -> None:
    """Python tests at the top or one folder below have their usual command; where there are none, no command is known."""
    assert " ".join(usual_test(files)) == command


def test_the_program_is_that_of_the_command(tmp_path: Path) -> None:
    """The program that a folder is tested with is known from its names alone, and links and other kinds of entries do no harm."""
    assert usual_program("") == ()
    assert usual_program(str(tmp_path)) == ()
    (tmp_path / "elsewhere").symlink_to("/")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_bytes(CASES)
    assert usual_program(str(tmp_path)) == ("python3",)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            (
                "test_a.py",
                "a_test.go",
                "x/tests/data.py",
                "a.test.js",
                "__tests__/a.js",
                "ATest.java",
                "conftest.py",
            ),
            True,
        ),
        (("contest.py", "latest.py", "a.py", "attest/b.py", "Latest.java"), False),
    ],
)
def test_files_of_tests_are_known_by_name(names: Sequence[str], expected: bool) -> None:
    """A test is a file with such a name, or one in a folder of tests."""
    assert [name for name in names if is_test(name) is not expected] == []
