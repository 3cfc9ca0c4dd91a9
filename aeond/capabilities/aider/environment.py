"""Aider's Python environment: what it consists of, and whether a folder has it."""

import hashlib
from pathlib import Path
from typing import Final

PACKAGES: Final = Path(__file__).parent / "packages.txt"
BUILT: Final = "aeond-aider"  # the name of the file that records the build


def mark() -> str:
    """What the file of a build contains."""
    return hashlib.sha256(PACKAGES.read_bytes()).hexdigest()


def is_built(folder: Path) -> bool:
    """Whether the folder has the environment of this version."""
    try:
        return (folder / BUILT).read_text(encoding="utf-8") == mark()
    except OSError:
        return False
