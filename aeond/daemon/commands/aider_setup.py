"""`aeond aider-setup`: builds the Python environment for Aider, separate from the daemon's own.

The daemon imports nothing from it. Versions are pinned in a list. A file written at the end records
the build, so that a second call is quick and an interrupted one starts over.
"""

import shutil
import sys
from pathlib import Path
from typing import Final

from aeond.daemon.commands.engine_setup import (
    environment_problem,
    folder_problem,
    installer,
    installer_environment,
    packages_in,
    room_problem,
    run_shown,
)
from aeond.daemon.commands.findings import Finding, Verdict
from aeond.daemon.compose.tooling.aider import BUILT, PACKAGES, is_built, mark
from aeond.daemon.exits import Exit

GIBIBYTES: Final = 1.5
NEWEST_PYTHON: Final = (3, 12)  # that the pinned versions have builds for
SETUP: Final = "run `aeond aider-setup`, or `make aider-setup` in a checkout"


def set_up(folder: Path, *, again: bool) -> Exit:
    """Builds the environment in `folder` unless it exists; PROBLEM, with the reason, on failure."""
    if not again and is_built(folder):
        print(f"Aider is ready in {folder}")
        return Exit.OK
    print(f"Building the environment for Aider in {folder}", flush=True)
    problem = _problem(folder)
    if problem:
        print(f"aeond: {problem}", file=sys.stderr)
        return Exit.PROBLEM
    (folder / BUILT).write_text(mark(), encoding="utf-8")
    print(f"Aider is ready in {folder}: restart the daemon to use it")
    return Exit.OK


def finding(folder: Path) -> Finding | None:
    """A finding of `aeond doctor` about the environment; None if there is none."""
    if not folder.is_dir():
        return None
    if not is_built(folder):
        return Finding("aider", Verdict.DOUBTFUL, f"{folder} is incomplete, or of another version", SETUP)
    if shutil.which("git") is None:
        return Finding("aider", Verdict.DOUBTFUL, "git is not installed", "apt-get install git")
    (version,) = (
        line.rpartition("=")[2] for line in packages_in(PACKAGES) if line.startswith("aider-chat==")
    )
    return Finding("aider", Verdict.GOOD, f"{version} in {folder}")


def _problem(folder: Path) -> str:
    """Builds it: the error, or ""."""
    if sys.version_info[:2] > NEWEST_PYTHON:
        newest = ".".join(map(str, NEWEST_PYTHON))
        return f"Aider needs Python {newest} or older: make the environment with another Python, see docs/aider.md"
    if problem := (
        room_problem(folder, GIBIBYTES, "aider.environment")
        or folder_problem(folder, BUILT)
        or environment_problem(folder)
    ):
        return problem
    if run_shown([*installer(folder), "--no-deps", *packages_in(PACKAGES)], installer_environment()):
        return (
            f"Aider could not be installed into {folder}; see the lines above. Check network and disk space, and run"
            " this again."
        )
    return ""
