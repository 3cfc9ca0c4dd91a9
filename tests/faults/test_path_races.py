"""Files that are swapped for links while they are being opened."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import Resolver, resolve_by_steps, resolve_in_kernel
from aeond.errors import ToolError
from tests.support.escapes import SECRET

ATTEMPTS = 3_000
MOST_ATTEMPTS = 200_000

# Repeatedly exchanges two names atomically, so that each always refers to one of the two objects.
SWAPPER = """
import ctypes, sys
libc = ctypes.CDLL(None)
one, two = (name.encode() for name in sys.argv[1:])
print("swapping", flush=True)
while True:
    for _ in range(3):
        libc.renameat2(-100, one, -100, two, 2)
"""


@contextmanager
def swapping(one: Path, two: Path) -> Iterator[None]:
    """Another process exchanges the two names as fast as it can."""
    with subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(one), str(two)], stdout=subprocess.PIPE, text=True
    ) as swapper:
        assert swapper.stdout is not None
        assert swapper.stdout.readline() == "swapping\n"
        try:
            yield
        finally:
            swapper.kill()


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A workspace and the outside, each with a folder `sub` and files of the same names."""
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    for folder, text in ((workspace, "inner"), (outside, SECRET)):
        (folder / "sub").mkdir(parents=True)
        (folder / "file.txt").write_text(text)
        (folder / "sub" / "file.txt").write_text(text)
    return workspace, outside


def outcomes(attempt: Callable[[], str]) -> set[str]:
    """The outcomes of many attempts, continued until some were rejected and some were not."""
    seen: set[str] = set()
    for number in range(MOST_ATTEMPTS):
        try:
            seen.add(attempt())
        except ToolError as error:
            seen.add(error.reason)
        if number >= ATTEMPTS and len(seen) > 1:
            break
    return seen


@pytest.mark.parametrize("resolve", [resolve_in_kernel, resolve_by_steps])
@pytest.mark.parametrize("path", ["sub/file.txt", "file.txt"])
def test_swapped_names_never_read_the_outside(
    places: tuple[Path, Path], resolve: Resolver, path: str
) -> None:
    """While a folder or file turns into a link to the outside and back, reads give the inside or nothing."""
    workspace, outside = places
    name = path.split("/", maxsplit=1)[0]
    (workspace / "trap").symlink_to(outside / name)
    files = ContainedFiles(resolve)

    def read() -> str:
        with files.open_file(path, str(workspace)) as opened:
            return os.pread(opened, 100, 0).decode()

    with swapping(workspace / name, workspace / "trap"):
        seen = outcomes(read)
    assert "inner" in seen
    assert seen <= {"inner", "PATH_OUTSIDE", "FILE_BUSY"}
    assert len(seen) > 1


@pytest.mark.parametrize("resolve", [resolve_in_kernel, resolve_by_steps])
def test_swapped_folders_are_never_written_outside(places: tuple[Path, Path], resolve: Resolver) -> None:
    """While a folder turns into a link to the outside and back, nothing is ever written outside."""
    workspace, outside = places
    (workspace / "trap").symlink_to(outside / "sub")
    files = ContainedFiles(resolve)

    def write() -> str:
        files.write_file("sub/new.txt", str(workspace), b"new", "run/step/call")
        return "written"

    with swapping(workspace / "sub", workspace / "trap"):
        seen = outcomes(write)
    assert seen <= {"written", "PATH_OUTSIDE", "FILE_BUSY"}
    assert len(seen) > 1
    assert os.listdir(outside / "sub") == ["file.txt"]
    assert (outside / "sub" / "file.txt").read_text() == SECRET


def test_folder_that_is_moved_out_is_no_way_out(places: tuple[Path, Path]) -> None:
    """While a folder is moved out of the workspace and back, dots in a path never reach what lies around it."""
    workspace, outside = places
    (workspace / "sub" / "deep").mkdir()
    (outside / "gap").mkdir()
    files = ContainedFiles(resolve_in_kernel)

    def read() -> str:
        with files.open_file("sub/deep/../../file.txt", str(workspace)) as opened:
            return os.pread(opened, 100, 0).decode()

    with swapping(workspace / "sub", outside / "gap"):
        seen = outcomes(read)
    assert "inner" in seen
    assert SECRET not in seen
    assert seen <= {"inner", "PATH_OUTSIDE", "FILE_BUSY", "FILE_NOT_FOUND"}
