"""A socket that starts a runner for each connection, as systemd does for aeond-tool.socket."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

RUNNER = (sys.executable, "-I", "-m", "aeond.capabilities.sandbox.runner")


@contextlib.contextmanager
def tool_socket(path: Path) -> Iterator[Path]:
    """Listens there for as long as the block lasts; a runner's group is killed when the runner ends."""
    running: list[threading.Thread] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve(connection: socket.socket) -> None:
            with connection:
                process = subprocess.Popen(
                    RUNNER,
                    stdin=connection.fileno(),
                    stdout=connection.fileno(),
                    stderr=subprocess.DEVNULL,
                    env={"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
                    start_new_session=True,
                )
            process.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    thread = threading.Thread(target=serve, args=(listener.accept()[0],))
                    thread.start()
                    running.append(thread)

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield path
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for thread in [accepting, *running]:
                thread.join()
