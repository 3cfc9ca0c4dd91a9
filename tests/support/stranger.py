"""Another user of the machine who knows every address: connects to sockets and ports, sends requests, reads files.

Run as a process of its own: `python -m tests.support.stranger UID ATTEMPTS`, which becomes the user first. ATTEMPTS is a
JSON list; of each attempt the printed JSON list has the status and text of the response, or the name of the error.
`silent_connections` holds connections of the user to a port, as many as are asked for.
"""

import encodings.idna  # noqa: F401 - what connects needs it, and the user may not be able to read these files
import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.outsiders import OTHER_UID
from tests.support.repository import ROOT

SECONDS = 30.0


def attempted(attempts: Sequence[Mapping[str, Any]], uid: int = OTHER_UID) -> list[Any]:
    """The results of the attempts. Only root can start them."""
    words = [sys.executable, "-m", "tests.support.stranger", str(uid), json.dumps(attempts)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


@contextmanager
def silent_connections(port: int, count: int, uid: int = OTHER_UID) -> Iterator[None]:
    """Connections of the user that send nothing, open during the block."""
    words = [sys.executable, "-m", "tests.support.stranger", str(uid), json.dumps([{"hold": [port, count]}])]
    with subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield
        finally:
            process.communicate("", SECONDS)


def _outcome(attempt: Mapping[str, Any]) -> Any:
    try:
        if "file" in attempt:
            return Path(attempt["file"]).read_text(encoding="utf-8")
        if "unix" in attempt:
            with socket.socket(socket.AF_UNIX) as stream:
                stream.connect(attempt["unix"])
            return "connected"
        return _response(attempt)
    except OSError as error:
        return type(error).__name__


def _response(attempt: Mapping[str, Any]) -> list[Any]:
    connection = http.client.HTTPConnection("127.0.0.1", attempt["port"], timeout=SECONDS)
    method, path, body = attempt.get("method", "POST"), attempt["path"], attempt.get("body", "{}")
    connection.request(method, path, body, attempt.get("headers", {}))
    reply = connection.getresponse()
    return [reply.status, reply.read().decode()]


def _hold(port: int, count: int) -> None:
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    sys.stdout.write("held\n")
    sys.stdout.flush()
    sys.stdin.read()
    for one in held:
        one.close()


def main(uid: int, attempts: Sequence[Mapping[str, Any]]) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if "hold" in attempts[0]:
        _hold(*attempts[0]["hold"])
    else:
        sys.stdout.write(json.dumps([_outcome(attempt) for attempt in attempts]))


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
