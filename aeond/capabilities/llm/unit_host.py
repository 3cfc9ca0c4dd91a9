"""The program of aeond-engine.service: an engine's host whose arguments come with the connection.

systemd hands over a listening socket. The first connection brings one line, a JSON list of arguments, and
becomes the host's standard input and output: what `llama_host.py` is for a child, it is here for a unit.
"""

import json
import os
import socket
import sys
from typing import Final

from aeond.capabilities.llm import llama_host

LISTENER: Final = 3  # where systemd begins; see sd_listen_fds(3)
WAIT_SECONDS: Final = 60.0


def main() -> None:
    with socket.socket(fileno=LISTENER) as listener:
        listener.settimeout(WAIT_SECONDS)
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            sys.exit("nobody asked for an engine")
    connection.settimeout(None)
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    connection.close()
    arguments = json.loads(first_line())
    os.write(1, json.dumps({"pid": os.getpid()}).encode() + b"\n")
    # The daemon's own number is of no use: this process has another parent.
    sys.argv[1:] = [*arguments, "--parent", str(os.getppid())]
    llama_host.main()


def first_line() -> bytes:
    """The first line of standard input, and not a byte more."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            sys.exit("the daemon left before it said what it wants")
        line += piece
    return line


if __name__ == "__main__":
    main()
