"""The real daemon as a process of its own: started, waited for, killed, started again on the same state."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any, Self

READY_SECONDS = 60.0
STOP_SECONDS = 60.0
EXPLAIN_SECONDS = 10.0
SHOWN_CHARS = 20_000
COMMAND = (sys.executable, "-m", "aeond.daemon.main")

# No approval is needed: the tests' own tools of dangerous classes are allowed, too.
POLICY = """profile = "trusted-folder"

[[allow]]
name = "tools-of-the-tests"
reason = "they write into a ledger only"
classes = ["write_outside", "exec_host", "net"]
"""
Overrides = Mapping[str, Mapping[str, Any]]


class DaemonProcess:
    """`aeond serve` in a separate folder, by default with the scripted model and an empty script.

    `overrides` are configuration sections; all other keys have their defaults. State, socket and log remain
    when the process is killed or stopped, so that `start` continues with them.
    """

    def __init__(self, folder: Path, overrides: Overrides | None = None) -> None:
        self.folder = folder
        self.state_dir = folder / "state"
        self.socket = folder / "aeond.sock"
        self.admin_socket = folder / "aeond-admin.sock"
        self.config_file = folder / "config" / "aeond.toml"
        self.log_file = folder / "daemon.log"
        self.script = folder / "script.json"
        self.environment: dict[str, str] = {}
        self._overrides = overrides or {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """The socket in gRPC's syntax."""
        return f"unix:{self.socket}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """Everything that the daemon has said so far."""
        return self.log_file.read_text(encoding="utf-8") if self.log_file.exists() else ""

    def write_config(self) -> None:
        """The configuration file as the next start will read it."""
        sections: dict[str, dict[str, Any]] = {
            "daemon": {"state_dir": str(self.state_dir)},
            "socket": {"path": str(self.socket)},
            "log": {"format": "text", "level": "debug"},
            "model": {"engine": "scripted", "script": str(self.script)},
            "embedding": {"fetch": False},
            "policy": {}
            if "policy" in self._overrides
            else {"file": str(self.config_file.with_name("policy.toml"))},
        }
        for name, values in self._overrides.items():
            sections[name] = {**sections.get(name, {}), **values}
        lines = []
        for name, values in sections.items():
            lines.append(f"[{name}]")
            # A JSON text, number, bool or list of these is written the same in TOML.
            lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
        self.config_file.parent.mkdir(exist_ok=True)
        self.config_file.with_name("policy.toml").write_text(POLICY, encoding="utf-8")
        self.config_file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if not self.script.exists():
            self.script.write_text("{}\n", encoding="utf-8")

    def start(self, deadline_seconds: float = READY_SECONDS) -> Self:
        """Starts the daemon and returns once it is READY; AssertionError with its log when it ends first."""
        self.write_config()
        with _notify_socket(self.folder / "notify.sock") as notified:
            self.spawn({"NOTIFY_SOCKET": str(self.folder / "notify.sock")})
            deadline = monotonic() + deadline_seconds
            while b"READY=1" not in _received(notified):
                code = self._process.poll() if self._process else None
                assert code is None, f"the daemon ended with {code} before it was ready:\n{self.log}"
                assert monotonic() < deadline, f"not ready in {deadline_seconds} s:\n{self.log}"
        return self

    def spawn(self, environment: Mapping[str, str] | None = None, arguments: Sequence[str] = ()) -> None:
        """Starts the daemon and does not wait for it."""
        assert self._process is None or self._process.poll() is not None, "it runs already"
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [*COMMAND, "serve", "--config", str(self.config_file), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment, **(environment or {})},
            )

    def kill(self) -> None:
        """SIGKILL, as a power cut or the OOM killer would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(STOP_SECONDS)

    def terminate(self) -> None:
        """Asks for an orderly stop and does not wait for it."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)

    def wait(self, deadline_seconds: float = STOP_SECONDS) -> int:
        """The exit code, once the daemon has ended by itself."""
        assert self._process is not None
        return self._process.wait(deadline_seconds)

    def log_says(self, text: str, deadline_seconds: float = READY_SECONDS) -> None:
        """Returns once the log has this text."""
        follower = subprocess.Popen(
            ["tail", "-n", "+1", "-f", str(self.log_file)], stdout=subprocess.PIPE, text=True
        )
        watchdog = Timer(deadline_seconds, follower.kill)
        watchdog.start()
        try:
            assert follower.stdout is not None
            assert any(text in line for line in follower.stdout), f"{text!r} is not in the log:\n{self.log}"
        finally:
            watchdog.cancel()
            follower.kill()
            follower.communicate()

    def stop(self) -> int:
        """An orderly stop; its exit code."""
        self.terminate()
        return self.wait()

    def restart(self) -> Self:
        """SIGKILL and a new start on the same state."""
        self.kill()
        return self.start()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.explain()
        self.end()

    def explain(self) -> None:
        """Prints, for the report of a failed test, what the daemon said last and what its tasks wait for."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGUSR1)
            self._process.send_signal(signal.SIGUSR2)  # the record of which follows those of the tasks
            with suppress(AssertionError):  # a daemon that hangs says nothing
                self.log_says(f"ignored signal {signal.SIGUSR2}", EXPLAIN_SECONDS)
        print(self.log[-SHOWN_CHARS:])  # noqa: T201 - pytest shows it with the failure

    def end(self) -> None:
        """Leaves no process behind, whatever happened."""
        if self._process is not None and self._process.poll() is None:
            self.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def daemon_folder() -> Iterator[Path]:
    """A folder with a path short enough for sockets, gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="aeond-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_daemon(overrides: Overrides | None = None) -> Iterator[DaemonProcess]:
    """A daemon that is READY, in a folder that is gone at the end."""
    with daemon_folder() as folder, DaemonProcess(folder, overrides) as daemon:
        yield daemon


@contextmanager
def _notify_socket(path: Path) -> Iterator[socket.socket]:
    with suppress(FileNotFoundError):
        path.unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(path))
        receiver.settimeout(0.05)
        yield receiver


def _received(receiver: socket.socket) -> bytes:
    try:
        return receiver.recv(65_536)
    except TimeoutError:
        return b""
