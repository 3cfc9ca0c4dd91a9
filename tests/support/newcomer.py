"""A newcomer who types the commands of a page: two terminals, of a user without privileges."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

from tests.support.daemon_process import daemon_folder
from tests.support.pty_program import PtyProgram, pty_program
from tests.support.repository import ROOT

SECONDS = 120.0
CONFIG = '[model]\nengine = "scripted"\nscript = "~/script.json"\n[embedding]\nfetch = false\n'


class Shell:
    """A shell that a person types into; the first command that fails ends it."""

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self._typed = home / "typed"
        self._shell = subprocess.Popen(
            [*ordinary_user(), "bash", "-e"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def type(self, commands: str) -> str:
        """Runs the commands and returns their standard output."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._typed.write_text(commands, encoding="utf-8")
        self._shell.stdin.write(f". {self._typed} </dev/null\necho the end\n")
        self._shell.stdin.flush()
        lines: list[str] = []
        watchdog = Timer(SECONDS, self._shell.kill)
        watchdog.start()
        try:
            for line in self._shell.stdout:
                if line == "the end\n":
                    return "".join(lines)
                lines.append(line)
        finally:
            watchdog.cancel()
        raise AssertionError(f"failed, or took too long:\n{commands}\n{''.join(lines)}")

    @contextmanager
    def at_terminal(self, line: str) -> Iterator[PtyProgram]:
        """The command of this line at a terminal, in the folder and with the environment of the shell."""
        folder = self.type("pwd").strip()
        script = f". {ROOT}/.venv/bin/activate; cd {folder}; {line}"
        with pty_program(
            [*ordinary_user(), "bash", "-c", script], {**self.environment, "TERM": "xterm"}
        ) as shown:
            yield shown

    def leave(self) -> None:
        self._shell.kill()
        self._shell.communicate()


class Foreground:
    """A terminal in which the daemon runs until Ctrl-C."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None

    def type(self, commands: str) -> None:
        """Returns once the daemon that the commands start is ready."""
        self.interrupt()
        self._process = subprocess.Popen(
            [*ordinary_user(), "bash", "-c", commands],
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )
        assert self._process.stdout is not None
        watchdog = Timer(SECONDS, self._process.kill)
        watchdog.start()
        try:
            lines = []
            for line in self._process.stdout:
                if '"daemon_ready"' in line:
                    return
                lines.append(line)
        finally:
            watchdog.cancel()
        raise AssertionError(f"no daemon:\n{''.join(lines)}")

    def interrupt(self) -> None:
        """Ctrl-C, which the terminal sends to the whole process group."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGINT)
            self._process.communicate(timeout=SECONDS)
            self._process = None


def ordinary_user() -> tuple[str, ...]:
    """Root becomes a user without privileges who owns root's files, in a namespace of its own."""
    return () if os.geteuid() else ("unshare", "--user", "--map-user=1000", "--map-group=1000")


@contextmanager
def newcomer(script: Mapping[str, Any]) -> Iterator[tuple[Foreground, Shell]]:
    """Two terminals of a user whose model has this script."""
    with daemon_folder() as home:
        config = home / ".config" / "aeond" / "aeond.toml"
        config.parent.mkdir(parents=True)
        config.write_text(CONFIG, encoding="utf-8")
        (home / "script.json").write_text(json.dumps(script), encoding="utf-8")
        # No session of a desktop: the socket is in the home folder.
        environment = {
            "HOME": str(home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(home / "none"),
        }
        first, second = Foreground(environment), Shell(home, environment)
        try:
            yield first, second
        finally:
            second.leave()
            first.interrupt()
