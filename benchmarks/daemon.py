"""The real daemon in a separate folder, as a user would run it but with a scripted model."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.measuring import ROOT

READY_SECONDS = 30.0
STOP_SECONDS = 60.0

SOCKET = "aeond.sock"
CONFIG = """
[daemon]
state_dir = {state}
stop_seconds = 5.0

[log]
level = "warning"

[socket]
path = {socket}
mode = "0666"

[policy]
profile = "trusted-folder"

[runs.budget]
ttl = 100
"""
SCRIPTED = """
[model]
engine = "scripted"
script = {script}
"""
# The default engine, not loaded until the first request.
UNLOADED = """
[model]
load_at_start = false
"""


@dataclass(frozen=True, slots=True)
class RunningDaemon:
    """Its socket, its process id, and the time from exec to READY."""

    socket: Path
    pid: int
    ready_seconds: float


def write_config(folder: Path, model: str = SCRIPTED) -> Path:
    """A configuration with all paths in this folder, and by default a scripted model."""
    script = folder / "script.json"
    script.write_text(json.dumps({"rules": [{"text": "It was said ten times."}]}), encoding="utf-8")
    places = {"state": folder / "state", "socket": folder / SOCKET, "script": script}
    config = folder / "aeond.toml"
    config.write_text(
        (CONFIG + model).format(**{key: json.dumps(str(path)) for key, path in places.items()}),
        encoding="utf-8",
    )
    return config


AEOND = (str(Path(sys.executable).with_name("aeond")),)


@contextmanager
def running_daemon(
    folder: Path, program: Sequence[str] = AEOND, model: str = SCRIPTED
) -> Iterator[RunningDaemon]:
    """Starts `aeond serve`, waits for READY as systemd would, stops it in an orderly way at the end."""
    config = write_config(folder, model)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
        notices.bind(str(folder / "notify.sock"))
        notices.settimeout(READY_SECONDS)
        begun = perf_counter()
        process = subprocess.Popen(
            [*program, "serve", "--config", str(config)],
            cwd=ROOT,
            env={**os.environ, "NOTIFY_SOCKET": str(folder / "notify.sock")},
        )
        try:
            while b"READY=1" not in notices.recv(4096).splitlines():
                continue
            yield RunningDaemon(folder / SOCKET, process.pid, perf_counter() - begun)
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)
