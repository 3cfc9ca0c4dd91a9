"""The folder as a git repository, for Aider and to find what differs."""

import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

GIT_SECONDS: Final = 60.0
IGNORED: Final = ("__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".coverage")
USUAL: Final = {
    "TERM": "dumb",
    "PYTHONDONTWRITEBYTECODE": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "aeond",
    "GIT_AUTHOR_EMAIL": "aeond@localhost",
    "GIT_COMMITTER_NAME": "aeond",
    "GIT_COMMITTER_EMAIL": "aeond@localhost",
}


class Worktree:
    """The folder, as a git repository of its own with one commit."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._first = "HEAD"

    def begin(self) -> None:
        self._git("init", "--quiet", "--template=", "--initial-branch=main")
        for name in ("name", "email"):  # Aider reads them from the configuration alone
            self._git("config", f"user.{name}", USUAL[f"GIT_AUTHOR_{name.upper()}"])
        exclude = Path(self._folder, ".git", "info", "exclude")
        exclude.parent.mkdir(exist_ok=True)
        exclude.write_text("".join(f"{line}\n" for line in (".aider*", *IGNORED)), encoding="utf-8")
        self.mark()

    def mark(self) -> None:
        """Lets all files count as unchanged in their present state."""
        self._add()
        self._git("commit", "--quiet", "--no-verify", "--allow-empty", "-m", "Before")
        self._first = self._git("rev-parse", "HEAD").strip()

    def marked(self) -> frozenset[str]:
        """The files that were there at the last mark."""
        return frozenset(self._git("ls-tree", "-r", "-z", "--name-only", self._first).split("\0")) - {""}

    def snapshot(self) -> str:
        """A name for the present state of all files, for `show`."""
        self._add()
        return self._git("write-tree").strip()

    def show(self, state: str = "") -> None:
        """Restores all files to a snapshot, or to the last mark; new ones are removed. Files that git ignores stay."""
        self._add()
        self._git("read-tree", "--reset", "-u", state or self._first)
        others = self._git("ls-files", "--others", "--exclude-standard", "-z")
        for name in others.split("\0"):  # those that a .gitignore of the attempt has hidden
            with suppress(OSError):
                Path(self._folder, name).unlink()

    def restore(self, names: Iterable[str]) -> None:
        """Restores those of these files that were there at the last mark."""
        kept = {*names} & self.marked()
        Path(self._folder, ".git", "index.lock").unlink(missing_ok=True)
        if kept:
            reading = ("--pathspec-from-file=-", "--pathspec-file-nul")
            self._git(
                "--literal-pathspecs", "checkout", "--quiet", *reading, self._first, given="\0".join(kept)
            )

    def discard(self, names: Iterable[str]) -> None:
        """Removes those of these files that were not there at the last mark."""
        for name in {*names} - self.marked():
            with suppress(OSError):  # it is a folder, or below a file
                Path(self._folder, name).unlink()

    def changed(self) -> list[str]:
        """The paths of the files that differ from those that were marked last."""
        self._add()
        listing = ("diff", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z", self._first)
        return [name for name in self._git(*listing).split("\0") if name]

    def _add(self) -> None:
        """All files but those that git cannot read, and folders that are repositories without a commit. A git that was killed may have left its
        lock."""
        Path(self._folder, ".git", "index.lock").unlink(missing_ok=True)
        self._git("add", "--all", "--ignore-errors", failures=1)

    def subjects(self, most: int) -> list[str]:
        """The first lines of the messages of later commits, the oldest first."""
        span = f"{self._first}..HEAD"
        return self._git("log", "--reverse", f"--max-count={most}", "--format=%s", span).splitlines()

    def _git(self, *words: str, failures: int = 0, given: str = "") -> str:
        """The output, of the given input. OSError for an exit code above `failures`."""
        done = subprocess.run(
            ["git", *words],  # noqa: S607 - found on the path of the sandbox
            cwd=self._folder,
            env={**os.environ, **USUAL},
            input=os.fsencode(given),
            capture_output=True,
            check=False,
            timeout=GIT_SECONDS,
        )
        if not 0 <= done.returncode <= failures:
            raise OSError(f"git {words[0]} failed: {done.stderr[-500:].decode(errors='replace')}")
        return os.fsdecode(done.stdout)
