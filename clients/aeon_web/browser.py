"""Opens the user's browser without showing the link to other users of the machine.

Arguments of programs are visible to every user, and a link opens the page for the first user who follows it. The browser
therefore gets the path of a file that only this user can read, which leads to the link.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from pathlib import Path

_PAGE = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={0}"><a href="{0}">aeon</a>'


def browser_command(environment: Mapping[str, str] = os.environ) -> str:
    """The program that opens the user's browser; "" without a desktop."""
    if not environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
        return ""
    return shutil.which("xdg-open", path=environment.get("PATH")) or ""


@contextmanager
def opened(command: str, link: str, environment: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """Opens the link in the browser; the file exists until the end of the block."""
    folder = environment.get("XDG_RUNTIME_DIR") or None
    with tempfile.NamedTemporaryFile(
        "w", prefix="aeon-", suffix=".html", dir=folder, encoding="utf-8"
    ) as file:
        file.write(_PAGE.format(escape(link)))
        file.flush()
        with subprocess.Popen(
            [command, file.name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as program:
            try:
                yield Path(file.name)
            finally:
                program.kill()
