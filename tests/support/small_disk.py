"""A disk that is soon full: a file system of a few megabytes, where the machine lets us mount one."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size_bytes: int) -> Iterator[Path]:
    """A folder on a file system of this size; skips the test where mounting is not allowed."""
    folder.mkdir()
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", folder],
            check=False,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        pytest.skip("there is no mount command here to make a small disk with")
    if mounted.returncode != 0:
        pytest.skip(f"this user may not mount a small disk: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def remount(folder: Path, options: str) -> None:
    """Changes a small disk while it is in use ("ro", "rw")."""
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


def fill(folder: Path) -> Path:
    """Takes all the room there is, and returns the file to delete to give it back."""
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        for size in (1 << 16, 4096):
            try:
                while True:
                    os.write(file.fileno(), bytes(size))
            except OSError:
                continue
    return ballast
