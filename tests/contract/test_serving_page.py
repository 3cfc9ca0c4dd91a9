"""docs/serving-tools.md, typed word by word."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from aeond_client import Client
from tests.support.aeonctl import command
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.repository import ROOT

SECONDS = 30.0
PAGE = (ROOT / "docs" / "serving-tools.md").read_text(encoding="utf-8")


def test_the_page_works_as_it_stands() -> None:
    """Programs are started as the page says, and each command prints the lines below it."""
    blocks = re.findall(r"^```(\w+) ?(.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    with daemon_folder() as folder, DaemonProcess(folder) as daemon, ExitStack() as programs:
        (folder / "aeonctl").write_text(f'#!/bin/sh\nexec {" ".join(command())} "$@"\n', encoding="utf-8")
        (folder / "aeonctl").chmod(0o755)
        path = f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        settings = {**os.environ, "PATH": path, "AEOND_SOCKET": str(daemon.socket), "PYTHONPATH": str(ROOT)}
        for language, place, text in blocks:
            if language == "python":
                (folder / place).write_text(text, encoding="utf-8")
                continue
            typed, _, printed = text.removeprefix("$ ").partition("\n")
            if place:
                programs.enter_context(serving(place.split()[-1], typed, folder, settings, daemon))
                continue
            done = subprocess.run(
                typed,
                shell=True,
                cwd=folder,
                env=settings,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=True,
            )
            assert done.stdout == printed


@contextmanager
def serving(
    name: str, typed: str, folder: Path, settings: dict[str, str], daemon: DaemonProcess
) -> Iterator[None]:
    """The program, from when the daemon has its tool until it is ended."""
    with subprocess.Popen(f"exec {typed}", shell=True, cwd=folder, env=settings) as program:
        try:
            with Client(daemon.socket) as client:
                while name not in {tool.name for tool in client.list_tools()}:
                    assert program.poll() is None, "the program ended"
            yield
        finally:
            program.kill()
