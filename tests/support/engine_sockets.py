"""A socket that starts an engine's host for a connection, as systemd does for aeond-engine.socket."""

import contextlib
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

HOST = (sys.executable, "-P", "-m", "aeond.capabilities.llm.engine.unit_host")
# Descriptor 3 is where the host looks; a shell puts it there as systemd would.
PLACED = ("/bin/sh", "-c", 'exec "$@" 3<&0 0</dev/null', "sh")


@contextlib.contextmanager
def engine_socket(path: Path) -> Iterator[Path]:
    """Listens there for as long as the block lasts, with one host at a time."""
    stop, stopped = os.pipe()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            while True:
                ready, _, _ = select.select([listener.fileno(), stop], [], [])
                if stop in ready:
                    return
                with subprocess.Popen(
                    [*PLACED, *HOST],
                    stdin=listener.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                ) as process:
                    process.wait()

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield path
        finally:
            os.close(stopped)
            serving.join()
            os.close(stop)
