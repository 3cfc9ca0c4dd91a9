"""Which files are source code and tests, and which command tests a repository, by the names of its files."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from aeond.bound_folders import open_bound
from aeond.domain.tools import Workspace
from aeond.thread_rights import acting_as

SOURCE_CODE: Final = tuple(
    f"*.{ending}"
    for ending in (
        *(
            "py",
            "pyi",
            "js",
            "mjs",
            "cjs",
            "jsx",
            "ts",
            "tsx",
            "go",
            "rs",
            "c",
            "h",
            "cc",
            "cpp",
            "hpp",
            "cs",
            "java",
            "kt",
        ),
        *(
            "swift",
            "rb",
            "php",
            "pl",
            "lua",
            "sh",
            "bash",
            "r",
            "jl",
            "hs",
            "ml",
            "ex",
            "exs",
            "scala",
            "dart",
            "zig",
        ),
    )
)
"""Patterns of the names of files with source code."""

_MAX_FOLDERS: Final = 200
_UNITTEST: Final = ("python3", "-m", "unittest")
_PYTEST: Final = ("python3", "-m", "pytest", "-q")
_BY_MARK: Final = {
    "go.mod": ("go", "test", "./..."),
    "Cargo.toml": ("cargo", "test", "--offline", "--quiet"),
    "package.json": ("npm", "test", "--silent"),
}


def usual_test(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The command that tests a folder with these files, or () if none is known. Only names at the top and in the folders there count;
    the program depends on nothing else."""
    near = [name for name in sorted(files) if name.count("/") <= 1]
    tests = [name for name in near if name.endswith(".py") and is_test(name)]
    if tests:
        return _python_test(tests, unittest=any(b"unittest" in files[name] for name in tests))
    return next((_BY_MARK[name] for name in near if name in _BY_MARK), ())


def is_test(name: str) -> bool:
    """Whether a file belongs to the tests."""
    path = PurePosixPath(name)
    return path.stem.startswith("test_") or path.stem.endswith("_test") or "tests" in path.parts[:-1]


def is_code(name: str) -> bool:
    """Whether a file is source code."""
    return any(fnmatchcase(name, pattern) for pattern in SOURCE_CODE)


def usual_program(workspace: str) -> tuple[str, ...]:
    """The program of the command that tests the workspace; () if none is known. Blocking."""
    if not workspace:
        return ()
    names = acting_as(Workspace.rights_of(workspace), lambda: _near_top(workspace))
    return usual_test(dict.fromkeys(names, b""))[:1]


def _python_test(tests: Sequence[str], *, unittest: bool) -> tuple[str, ...]:
    folders = {str(PurePosixPath(name).parent) for name in tests}
    if not unittest:
        return _PYTEST
    return _UNITTEST if "." in folders or len(folders) > 1 else (*_UNITTEST, "discover", "-s", *folders)


def _near_top(workspace: str) -> Sequence[str]:
    """The names of the files at the top and in the folders there."""
    names: list[str] = []
    bound = open_bound(workspace, Workspace.identity_of(workspace), Workspace.rights_of(workspace))
    try:
        entries = sorted(Path(f"/proc/self/fd/{bound}").iterdir())
        folders = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
        names += [entry.name for entry in entries if entry not in folders]
        for folder in folders[:_MAX_FOLDERS]:
            with suppress(OSError):  # the user may not read it: the copy does not have it either
                names += [f"{folder.name}/{entry.name}" for entry in folder.iterdir()]
    finally:
        os.close(bound)
    return names
