"""`aeond demo`: starts a private daemon with the real model, sends requests with the real client, and stops it.

The user's own daemon is not affected: state, socket and sample folder are temporary. Only the model is stored
in the usual folder, so that it is downloaded once, and prompts that the engine has read are shared with the user's
own daemon: on a slow processor, reading them takes minutes.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from aeond.capabilities.llm.llama.prefix_cache import share_read_prompts
from aeond.daemon.config.paths import default_config_file, paths_of, user_models_dir
from aeond.daemon.config.schema import Config
from aeond.daemon.exits import Exit

REQUESTS: Final = (
    "What does HTTP stand for?",
    "When is invoice 17 due?",
    "What is 17.5% of 2400? Then remember the result as bonus.",
    "What did I ask you to remember?",
)
SAMPLES: Final = {
    "invoice.txt": "Invoice 17: 2400.00 EUR, due at the end of the month.\n",
    "notes.md": "# Notes\n\n" + "Call the printer. Water the plants. Book the train.\n" * 20,
    "measurements.csv": "time,value\n" + "".join(f"{n},{n * n % 97}\n" for n in range(2_000)),
}
# maximum time without a message from the daemon while it downloads and loads its model
QUIET_SECONDS: Final = 600
STOP_SECONDS: Final = 60
REQUEST_SECONDS: Final = 1_800


def show(requests: Sequence[str], *, model: str, engine: str, keep: bool) -> Exit:
    """Runs the demonstration; PROBLEM if the daemon does not start or a request fails."""
    folder = Path(tempfile.mkdtemp(prefix="aeond-demo-"))
    try:
        return _show_in(folder, requests, model, engine)
    finally:
        if keep:
            _say(f"journal, log and sample files are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _show_in(folder: Path, requests: Sequence[str], model: str, engine: str) -> Exit:
    samples = folder / "samples"
    samples.mkdir()
    for name, text in SAMPLES.items():
        (samples / name).write_text(text, encoding="utf-8")
    home = folder / "daemon"
    home.mkdir()
    (home / "aeond.toml").write_text(_config(home, model, engine), encoding="utf-8")
    own, usual = home / "state" / "prompts", paths_of(Config(), default_config_file()).prompts_dir
    share_read_prompts(usual, own)
    _say("starting a private daemon")
    with _news(home / "notify.sock") as news, _daemon(home) as daemon:
        problem = _wait_for_model(news, daemon)
        if problem:
            _say(problem)
            _say((home / "aeond.log").read_text(encoding="utf-8", errors="replace").strip()[-2_000:])
            return Exit.PROBLEM
        codes = [_ask(request, home / "aeond.sock", samples) for request in requests]
        _say("stopping the daemon")
        daemon.send_signal(signal.SIGTERM)
        codes.append(daemon.wait(STOP_SECONDS))
    share_read_prompts(own, usual)
    _say("done" if not any(codes) else f"some requests failed: exit codes {codes}")
    return Exit.OK if not any(codes) else Exit.PROBLEM


def _config(home: Path, model: str, engine: str) -> str:
    """Its configuration. The engine is a child process also for root: the system service's unit cannot read
    models in a home folder.
    """
    text = _quoted  # JSON strings are valid TOML strings, except for escaped surrogates
    return f"""\
[daemon]
state_dir = {text(str(home / "state"))}
[socket]
path = {text(str(home / "aeond.sock"))}
[model]
engine = {text(engine)}
name = {text(model)}
models_dir = {text(str(user_models_dir()))}
[engine]
run = "child"
[policy]
profile = "trusted-folder"
"""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@contextmanager
def _news(address: Path) -> Iterator[socket.socket]:
    """A socket that receives the daemon's notifications to its service manager."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(address))
        receiver.settimeout(1.0)
        yield receiver


@contextmanager
def _daemon(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (home / "aeond.log").open("wb") as log:
        daemon = subprocess.Popen(
            [sys.executable, "-m", "aeond.daemon.main", "serve", "--config", str(home / "aeond.toml")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "NOTIFY_SOCKET": str(home / "notify.sock")},
        )
    try:
        yield daemon
    finally:
        if daemon.poll() is None:
            daemon.terminate()
            try:
                daemon.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _wait_for_model(news: socket.socket, daemon: subprocess.Popen[bytes]) -> str:
    """Shows the download and loading of the model; returns "" once it is ready, otherwise the error."""
    line = ProgressLine()
    quiet = 0
    while quiet < QUIET_SECONDS:
        try:
            received = news.recv(65_536).decode("utf-8", "replace")
        except TimeoutError:
            quiet += 1
            if daemon.poll() is not None:
                return f"the daemon ended with exit code {daemon.returncode}:"
            continue
        quiet = 0
        fields = dict(part.split("=", 1) for part in received.split("\n") if "=" in part)
        if "READY" in fields:
            line.show("the daemon is ready")
        if "STATUS" in fields:
            line.show(fields["STATUS"])
        if fields.get("X_AEOND_ENGINE") == "ready":
            line.end()
            return ""
        if fields.get("X_AEOND_ENGINE") == "dead":
            line.end()
            return "the engine could not be started:"
    return f"no message from the daemon for {QUIET_SECONDS} s:"


class ProgressLine:
    """A line redrawn in place on a terminal; in a pipe, one line per 10 % of progress."""

    def __init__(self) -> None:
        self._changes = sys.stdout.isatty()
        self._last = ""
        self._open = False

    def show(self, text: str) -> None:
        if self._changes:
            print(f"\r\033[K{text}", end="", flush=True)
            self._open = True
            return
        rough = re.sub(r"\d%", "%", text)  # 41% and 47% count as the same progress
        if rough != self._last:
            self._last = rough
            _say(text)

    def end(self) -> None:
        if self._open:
            print(flush=True)


def _ask(request: str, address: Path, workspace: Path) -> int:
    """Sends one request with the real client, which prints its progress; returns the exit code."""
    print(f"\n$ aeonctl ask {_quoted(request)}", flush=True)
    client = str(Path(sys.executable).with_name("aeonctl"))
    asking = [client, "--socket", str(address), "ask", "--workspace", str(workspace), request]
    return subprocess.run(asking, check=False, stdin=subprocess.DEVNULL, timeout=REQUEST_SECONDS).returncode


def _say(text: str) -> None:
    print(text, flush=True)
