"""The program of aeond-engine.service: what it is to run comes with the connection.

systemd hands over a listening socket. The first connection brings one line, a JSON object, and becomes
standard input and output. Its `command` is either the arguments of `llama/host.py`, which this process then
is for a unit, or another program with all of its words, which this process becomes; `environment` is what
that one knows beside the unit's own.
"""

import json
import os
import socket
import sys
from typing import Final, NoReturn

from aeond.capabilities.llm.llama import host

LISTENER: Final = 3  # where systemd begins; see sd_listen_fds(3)
WAIT_SECONDS: Final = 60.0
# The parent pid passed to programs: not the daemon's, since the daemon is not the parent of this process.
PARENT: Final = str(os.getppid())


def main() -> None:
    with socket.socket(fileno=LISTENER) as listener:
        listener.settimeout(WAIT_SECONDS)
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            sys.exit("no request for an engine arrived")
    connection.settimeout(None)
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    connection.close()
    asked = json.loads(first_line())
    command: list[str] = asked["command"]
    os.write(1, json.dumps({"pid": os.getpid()}).encode() + b"\n")
    if command and command[0].startswith("/"):
        become(command, asked["environment"])
    sys.argv[1:] = [*command, "--parent", PARENT]
    host.main()


def become(command: list[str], environment: dict[str, str]) -> NoReturn:
    """Runs another program as this process."""
    if "--parent" in command:
        command[command.index("--parent") + 1] = PARENT
    try:
        os.execve(command[0], command, os.environ | environment)  # noqa: S606 - its words are the daemon's
    except OSError as error:
        os.write(1, json.dumps({"error": f"{command[0]} cannot be run ({error})"}).encode() + b"\n")
        sys.exit(f"{command[0]} cannot be run: {error}")


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
