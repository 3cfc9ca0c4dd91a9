"""Which files are source code and tests, and which command runs the tests of a Python project, by the names of its files."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Final

from aeond.bound_folders import open_bound
from aeond.domain.tools import Workspace
from aeond.errors import ToolError
from aeond.thread_rights import acting_as

_ENDINGS: Final = """py pyi js mjs cjs jsx ts tsx go rs c h cc cpp hpp cs java kt swift rb php pl lua sh bash r jl hs ml ex exs scala
dart zig"""
SOURCE_CODE: Final = tuple(f"*.{ending}" for ending in _ENDINGS.split())
"""Patterns of the names of files with source code."""

_TEST_NAME: Final = re.compile(r"^test_|_(?:test|spec)\.|\.(?:test|spec)\.|[A-Za-z0-9]Test\.|^conftest\.py$")
_TEST_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec"})
_MAX_NAMES: Final = 10_000
_MAX_FOLDERS: Final = 200
_MAX_NAMED_TESTS: Final = 50
_UNITTEST: Final = ("python3", "-m", "unittest")
_PYTEST: Final = ("python3", "-m", "pytest", "-q")


def is_code(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in SOURCE_CODE)


def is_test(name: str) -> bool:
    """Whether a file belongs to the tests, by the names that are usual in most languages."""
    path = PurePosixPath(name)
    return _TEST_NAME.search(path.name) is not None or not _TEST_FOLDERS.isdisjoint(path.parts[:-1])


def usual_test(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The command that runs the Python tests among these files, at the top and in the folders there; () if there are none, or more than can be
    named."""
    tests = [name for name in sorted(files) if _is_python_test(name)]
    if not tests:
        return ()
    if not any(b"TestCase" in files[name] for name in tests):
        return _PYTEST
    (folder, *others) = dict.fromkeys(str(PurePosixPath(name).parent) for name in tests)
    if others or not all(PurePosixPath(name).name.startswith("test") for name in tests):
        named = (*_UNITTEST, *tests)  # discovery would find none of them, and succeed
        return named if len(tests) <= _MAX_NAMED_TESTS else ()
    return _UNITTEST if folder == "." else (*_UNITTEST, "discover", "-s", folder)


def usual_program(workspace: str) -> tuple[str, ...]:
    """The program of the command that would run the tests of the workspace; () if there are none. Blocking."""
    if not workspace:
        return ()
    with suppress(OSError, ToolError):  # a folder that cannot be read is not copied either, which says so
        names = acting_as(Workspace.rights_of(workspace), lambda: _near_top(workspace))
        return usual_test(dict.fromkeys(names, b""))[:1]
    return ()


def _is_python_test(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        name.count("/") <= 1
        and path.suffix == ".py"
        and (path.stem.startswith("test_") or path.stem.endswith("_test"))
    )


def _near_top(workspace: str) -> Sequence[str]:
    """The names of the files at the top and in the folders there, at most _MAX_NAMES."""
    names: list[str] = []
    bound = open_bound(workspace, Workspace.identity_of(workspace), Workspace.rights_of(workspace))
    try:
        with os.scandir(f"/proc/self/fd/{bound}") as entries:
            top = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
        names += [name for name, is_folder in top if not is_folder]
        for folder in [name for name, is_folder in top if is_folder][:_MAX_FOLDERS]:
            # One that the user may not read is not in the copy either.
            with suppress(OSError), os.scandir(f"/proc/self/fd/{bound}/{folder}") as entries:
                names += [f"{folder}/{entry.name}" for entry in entries]
            if len(names) > _MAX_NAMES:
                break
    finally:
        os.close(bound)
    return names[:_MAX_NAMES]
