"""Lets Aider change the files of a folder, and tests them: the program that runs in the sandbox.

It is started with the connection to the daemon as standard input and output, and reads one line of JSON, the order.
Aider asks the model by HTTP on the loopback of the sandbox, which has no other network; each request goes over the
connection as a line, and so do the answer, the output while it comes, and the result at the end.
"""

import json
import os
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from aeond.capabilities.hands.inside.programs import run
from aeond.capabilities.sandbox.live_output import deliver_with

MAX_BODY_BYTES: Final = 4 << 20
MAX_OUTPUT_BYTES: Final = 32 << 10
MAX_FAILURE_CHARS: Final = 2_000  # of a failing test, for the model
MODEL: Final = "openai/aeond"
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
FIXED: Final = (
    *("--no-check-update", "--no-show-release-notes", "--analytics-disable", "--no-show-model-warnings"),
    *("--yes-always", "--no-stream", "--no-pretty", "--no-fancy-input", "--no-gitignore", "--no-detect-urls"),
    *("--no-auto-commits", "--no-dirty-commits", "--no-auto-lint", "--no-suggest-shell-commands"),
    *("--no-restore-chat-history", "--disable-playwright", "--map-tokens", "0", "--edit-format", "whole"),
)


class Connection:
    """The connection to the daemon: text that is shown, and one question at a time."""

    def __init__(self, wire: socket.socket) -> None:
        self._wire = wire
        self._reader = wire.makefile("rb")
        self._asking = threading.Lock()
        self._sending = threading.Lock()

    def order(self) -> Any:
        return json.loads(self._reader.readline())

    def send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        with self._sending:
            self._wire.sendall(line)

    def ask(self, body: Any) -> tuple[int, Any]:
        """The status and the body of the answer. The process ends if the daemon is gone."""
        with self._asking:
            self.send({"ask": body})
            line = self._reader.readline()
        if not line:
            os._exit(1)
        answer = json.loads(line)
        return answer["status"], answer["body"]


def serve(connection: Connection) -> int:
    """Answers requests of Aider on a port of the loopback in the background: the port."""

    class Questions(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            if not self.path.endswith("/chat/completions") or not 0 < size <= MAX_BODY_BYTES:
                self.send_error(400)
                return
            status, body = connection.ask(json.loads(self.rfile.read(size)))
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
            """Requests are not logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Questions)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])


class Worktree:
    """The folder, as a git repository of its own with one commit."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def begin(self) -> None:
        self._git("init", "--quiet", "--template=", "--initial-branch=main")
        exclude = Path(self._folder, ".git", "info", "exclude")
        exclude.parent.mkdir(exist_ok=True)
        exclude.write_text("".join(f"{line}\n" for line in (".aider*", *IGNORED)), encoding="utf-8")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--no-verify", "--allow-empty", "-m", "Before")

    def changed(self) -> list[str]:
        """The paths of the files that differ from the commit."""
        self._git("add", "--all")
        listing = ("diff", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z", "HEAD")
        return [name for name in self._git(*listing).split("\0") if name]

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words],  # noqa: S607 - found on the path of the sandbox
            cwd=self._folder,
            env={**os.environ, **USUAL},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=GIT_SECONDS,
        )
        if done.returncode:
            raise OSError(f"git {words[0]} failed: {done.stderr[-500:].decode(errors='replace')}")
        return os.fsdecode(done.stdout)


def tested(argv: Sequence[str], folder: str, seconds: float) -> Mapping[str, Any]:
    """Runs a test."""
    environment = {**USUAL, "HOME": os.environ["HOME"]}
    return run(
        argv,
        folder=folder,
        environment=environment,
        seconds=seconds,
        kept_bytes=MAX_OUTPUT_BYTES,
        merged=True,
    )


def aider(order: Any, port: int, failure: str) -> Mapping[str, Any]:
    """Runs Aider with our configuration alone, the files of a repository for it having been left out."""
    home = Path(os.environ["HOME"])
    settings = [
        {
            "name": MODEL,
            "edit_format": "whole",
            "weak_model_name": MODEL,
            "use_repo_map": False,
            "streaming": False,
        }
    ]
    limits = {
        "max_input_tokens": order["context_tokens"],
        "max_output_tokens": order["answer_tokens"],
        "max_tokens": order["context_tokens"],
        "input_cost_per_token": 0,
        "output_cost_per_token": 0,
        "litellm_provider": "openai",
        "mode": "chat",
    }
    texts = {
        "config": "check-update: false\n",
        "environment": "",
        "settings": json.dumps(settings),  # JSON is YAML, too
        "limits": json.dumps({MODEL: limits}),
        "message": order["task"] + (f"\n\nThe test fails:\n{failure}" if failure else ""),
    }
    for name, text in texts.items():
        (home / f"aeond.{name}").write_text(text, encoding="utf-8")
    testing = ["--auto-test", "--test-cmd", order["test_line"]] if order["test"] else []
    argv = [
        *(order["python"], "-I", "-m", "aider", *FIXED, *testing),
        *("--model", MODEL, "--model-settings-file", f"{home}/aeond.settings"),
        *("--model-metadata-file", f"{home}/aeond.limits", "--config", f"{home}/aeond.config"),
        *("--env-file", f"{home}/aeond.environment", "--message-file", f"{home}/aeond.message"),
        *("--chat-history-file", f"{home}/chat", "--input-history-file", f"{home}/input"),
        *(word for name in order["read"] for word in ("--read", name)),
        *order["files"],
    ]
    environment = {
        **USUAL,
        "HOME": str(home),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENAI_API_BASE": f"http://127.0.0.1:{port}/v1",
        "OPENAI_API_KEY": "none",
        "NO_PROXY": "*",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    return run(
        argv,
        folder=order["folder"],
        environment=environment,
        seconds=order["seconds"],
        kept_bytes=MAX_OUTPUT_BYTES,
        merged=True,
    )


def work(order: Any, connection: Connection) -> Mapping[str, Any]:
    """The outcome of Aider, of the tests before and after it (None: there are none), and the changed files."""
    folder, test = order["folder"], order["test"]
    os.chdir(folder)
    worktree = Worktree(folder)
    worktree.begin()
    before = tested(test, folder, order["test_seconds"]) if test else None
    failure = before["output"][-MAX_FAILURE_CHARS:] if before and before["exit_code"] else ""
    done = aider(order, serve(connection), failure)
    changed = worktree.changed()
    after = tested(test, folder, order["test_seconds"]) if test else None
    return {"aider": done, "before": before, "after": after, "changed": changed}


def main() -> None:
    wire = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    connection = Connection(wire)
    order = connection.order()
    deliver_with(lambda text: connection.send({"live": text}))
    connection.send({"done": work(order, connection)})
    os._exit(0)


if __name__ == "__main__":
    main()
