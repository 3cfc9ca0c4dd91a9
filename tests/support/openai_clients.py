"""The official clients of the OpenAI API as programs, and the façade that they talk to."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.aeonctl import environment
from tests.support.repository import ROOT

SECONDS: Final = 60.0
KEY: Final = "a key of sixteen characters or more"
FOLDER: Final = ROOT / "tests" / "openai_clients"
_COMMANDS: Final = {
    "python": (ROOT / ".venv-openai" / "bin" / "python", FOLDER / "client.py"),
    "node": (Path("node"), FOLDER / "client.mjs"),
}
LANGUAGES: Final = tuple(_COMMANDS)


class ClientProgram:
    """A client in one of LANGUAGES, which makes one call after another."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def call(self, method: str, /, *place: str, leave_after: int = 0, **arguments: Any) -> dict[str, Any]:
        """The outcome: `result`, `events` of a stream, or `error`."""
        call = {"method": method, "place": place, "arguments": arguments, "leave_after": leave_after}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(call) + "\n")
        self._process.stdin.flush()
        outcome: dict[str, Any] = json.loads(self._process.stdout.readline())
        return outcome

    def result(self, method: str, /, *place: str, **arguments: Any) -> Any:
        return self.call(method, *place, **arguments)["result"]

    def events(self, method: str, /, **arguments: Any) -> list[Any]:
        events: list[Any] = self.call(method, stream=True, **arguments)["events"]
        return events

    def error(self, method: str, /, **arguments: Any) -> tuple[int, str]:
        """The HTTP status, 0 for an error within a stream, and the code."""
        error = self.call(method, **arguments)["error"]
        return error["status"], error["code"]


@contextmanager
def client_program(language: str, address: str) -> Iterator[ClientProgram]:
    """The program, for the façade at this address. The test is skipped if the client was not installed."""
    _skip_if_missing()
    settings = {**os.environ, "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": KEY}
    with subprocess.Popen(
        list(map(str, _COMMANDS[language])),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=settings,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield ClientProgram(process)
        finally:
            process.kill()


def program_output(language: str, source: str) -> str:
    """The output of this program, which uses the official client for Python or Node. Skips as `client_program`."""
    _skip_if_missing()
    command: list[Any] = [_COMMANDS["python"][0], "-c", source]
    if language == "javascript":
        command = ["node", "--input-type=module", "--eval", source]
    return _output(command, OPENAI_API_KEY=KEY)


def shell_output(command: str, **settings: str) -> str:
    """The output of a command of a shell."""
    return _output(["bash", "-c", command], **settings)


def _output(command: list[Any], **settings: str) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=SECONDS,
        cwd=FOLDER,
    )
    return done.stdout


def _skip_if_missing() -> None:
    if not (ROOT / ".venv-openai" / ".ready").exists() or not (FOLDER / "node_modules").exists():
        pytest.skip("the OpenAI clients are not installed: make openai-clients")


@contextmanager
def openai_facade(
    daemon_socket: str, folder: Path, *options: str, runtime: str = "", protocol: str = "openai"
) -> Iterator[str]:
    """The address of `aeond facade openai`, or of that of another protocol: on any free port with KEY, or as the options say, or without options on the
    socket in the runtime folder.
    """
    key_file = folder / "openai.key"
    key_file.write_text(KEY, encoding="utf-8")
    key_file.chmod(0o600)
    usual = () if runtime else ("--port", "0", "--key-file", str(key_file))
    command = [
        sys.executable,
        "-m",
        "aeond.daemon.main",
        "facade",
        protocol,
        "--daemon",
        daemon_socket,
        *(options or usual),
    ]
    with subprocess.Popen(
        command, env=environment(XDG_RUNTIME_DIR=runtime), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("listening on "), line
            yield line.removeprefix("listening on ").strip()
        finally:
            process.terminate()
            process.wait(SECONDS)
