"""llama.cpp driven directly: a server of its own settings and a plain client, the floor of our way to it."""

import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import psutil

from aeond.capabilities.llm.models.catalogue import BUILT_IN
from aeond.daemon.compose.engine import models_of
from aeond.daemon.config.paths import paths_of
from aeond.daemon.config.schema import Config
from benchmarks.measuring import ROOT

WORDS = (
    "river", "stone", "lantern", "cloud", "window", "paper", "garden", "silver", "engine", "mountain", "candle",
    "forest", "bottle", "letter", "market", "winter", "bridge", "doctor", "ticket", "kitchen", "harbour", "pencil",
)  # fmt: skip
PATIENCE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Timed:
    """One answer: tokens of its prompt and of its text, seconds to its first and to its last token."""

    prompt_tokens: int
    written_tokens: int
    first_seconds: float
    last_seconds: float

    @property
    def read_rate(self) -> float:
        """Prompt tokens a second."""
        return self.prompt_tokens / self.first_seconds

    @property
    def written_rate(self) -> float:
        """Tokens a second after the first one."""
        return (self.written_tokens - 1) / (self.last_seconds - self.first_seconds)


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("engine", timeout=PATIENCE_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE_SECONDS)
        self.sock.connect(str(self._path))


@dataclass(frozen=True, slots=True)
class BareLlama:
    """A running server."""

    socket: Path
    pid: int
    load_seconds: float

    @property
    def peak_memory(self) -> int:
        """Bytes of memory at most, the file of the model included."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return next(1024 * int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        connection = _Connection(self.socket)
        try:
            connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return answer

    def prompt(self, dice: random.Random, tokens: int) -> str:
        """A text of about so many tokens that no engine has read before."""
        words = [dice.choice(WORDS) for _ in range(tokens)]
        counted = len(self.post("/tokenize", {"content": " ".join(words)})["tokens"])
        return " ".join(words[: round(tokens * tokens / counted)])

    def ask(self, text: str, max_tokens: int) -> Timed:
        """A chat as its own clients have it."""
        body = {
            "messages": [{"role": "user", "content": text}],
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        connection = _Connection(self.socket)
        usage: dict[str, int] = {}
        began, first, last = perf_counter(), 0.0, 0.0
        try:
            connection.request(
                "POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"}
            )
            for line in connection.getresponse():
                if not line.startswith(b"data: {"):
                    continue
                event = json.loads(line.removeprefix(b"data: "))
                if event["choices"] and event["choices"][0]["delta"].get("content"):
                    last = perf_counter() - began
                    first = first or last
                usage = event.get("usage") or usage
        finally:
            connection.close()
        return Timed(usage["prompt_tokens"], usage["completion_tokens"], first, last)


def default_model() -> Path:
    """The file of the default model. RuntimeError where it has not been downloaded yet."""
    config = Config()
    catalogue, store = models_of(config.model, paths_of(config, Path()))
    path = store.find(catalogue.get(BUILT_IN[0].name))
    if path is None:
        message = "the default model is not on this machine: run `make demo` first"
        raise RuntimeError(message)
    return path


@contextmanager
def bare_llama(model: Path, **settings: Any) -> Iterator[BareLlama]:
    """llama.cpp's server over this model, with parameters as `contenders/bare_llama.py` takes them."""
    with tempfile.TemporaryDirectory(prefix="aeond-") as folder:  # a short path: the socket is in it
        path = Path(folder) / "bare.sock"
        began = perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.contenders.bare_llama", path, model, json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if process.stdout.readline() != b"ready\n":
                message = f"llama.cpp does not start with {settings}"
                raise RuntimeError(message)
            yield BareLlama(path, process.pid, perf_counter() - began)
        finally:
            process.stdin.close()
            try:
                process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                psutil.Process(process.pid).kill()
                process.wait()
            process.stdout.close()
