"""aeonctl for tests: in a thread of the test's process, and as a program of its own."""

import io
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
import pytest

from aeon_cli.main import main
from tests.support.scripted_daemon import ScriptedDaemon

PROGRAM_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Printed:
    """The output of a command."""

    code: int
    out: str
    err: str

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Awaitable[Printed]]


def captured_aeonctl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The program in a thread, with its input given and its output captured as by a pipe."""

    async def run(*words: str, stdin: str | bytes = "") -> Printed:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        with anyio.fail_after(60):
            code = await anyio.to_thread.run_sync(main, list(words), abandon_on_cancel=True)
        return Printed(code, *capsys.readouterr())

    return run


def command(*words: str) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-m", "aeon_cli.main", *words]


def environment(**settings: str) -> dict[str, str]:
    """The environment of such a process, without variables of this one."""
    return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **settings}


async def offered(typed: str, socket: str) -> Printed:
    """Bash's completions for the last of these words: one line each, with kind and text."""
    words = f"aeonctl {typed}"
    asked = {"_AEONCTL_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    return await finished(command(), environment(AEOND_SOCKET=socket, **asked))


async def finished(
    program: Sequence[str], variables: Mapping[str, str], *, cwd: Path | None = None
) -> Printed:
    """The result of a process without standard input in such an environment."""
    with anyio.fail_after(PROGRAM_SECONDS):
        done = await anyio.run_process(program, check=False, cwd=cwd, env=variables)
    return Printed(done.returncode, done.stdout.decode(), done.stderr.decode())


def script(daemon: ScriptedDaemon, *kinds: Any) -> None:
    """Lets every new run consist of these events."""
    daemon.runs.script = lambda _: list(kinds)
