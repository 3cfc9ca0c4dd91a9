"""A real service for notifications, dunst, and the user who chooses from the menu of one that is shown."""

import shutil
import subprocess
import time
from contextlib import ExitStack
from types import TracebackType
from typing import Self

import pytest

from tests.support.desktop_session import DEADLINE_SECONDS, XSession, spawned

needs_dunst = pytest.mark.skipif(shutil.which("dunst") is None, reason="missing here: dunst")

# The program that dunst shows its menu with: each line is an action with its label, and the chosen one is printed.
_MENU = """#!/bin/sh
exec grep -m1 -F -f {choice}
"""


class Dunst:
    """Dunst on the display and the bus of a session."""

    def __init__(self, session: XSession) -> None:
        self._session = session
        self._stack = ExitStack()
        self._choice = session.folder / "dunst-choice"

    def __enter__(self) -> Self:
        menu, settings = (self._session.folder / name for name in ("dunst-menu", "dunstrc"))
        menu.write_text(_MENU.format(choice=self._choice), encoding="utf-8")
        menu.chmod(0o700)
        settings.write_text(f"[global]\ndmenu = {menu}\n", encoding="utf-8")
        spawned(self._stack, ["dunst", "-config", str(settings)], self._session.environment)
        self._wait_until("is-paused", says="false")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def choose(self, label: str) -> None:
        """Waits for a notification and chooses the action with this label."""
        self._wait_until("count", "displayed", says="1")
        self._choice.write_text(f"#{label} (", encoding="utf-8")
        self._session.run("dunstctl", "context")

    def _wait_until(self, *words: str, says: str) -> None:
        """Returns once dunstctl prints this; it fails while dunst is not on the bus."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        said = ""
        while said != says:
            assert time.monotonic() < deadline, f"dunst says {said!r}, not {says!r}"
            try:
                said = self._session.run("dunstctl", *words)
            except subprocess.CalledProcessError as error:
                said = str(error.stderr)
