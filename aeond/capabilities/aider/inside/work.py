"""Lets Aider change the files of a folder, and tests them: the program that runs in the sandbox.

It is started with the connection to the daemon as standard input and output, and reads one line of JSON, the order.
Aider asks the model by HTTP on the loopback of the sandbox, which has no other network; each request goes over the
connection as a line, and so do the answer, the output while it comes, and the result at the end.
"""

import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aeond.capabilities.aider.inside.aider_program import ALONE, argv, environment
from aeond.capabilities.aider.inside.connection import Connection, serve
from aeond.capabilities.aider.inside.repository import USUAL, Worktree
from aeond.capabilities.hands.inside.programs import run
from aeond.capabilities.sandbox.live_output import deliver_with

MAX_OUTPUT_BYTES: Final = 32 << 10
MAX_FAILURE_CHARS: Final = 2_000  # of a failing test, for the model


def tested(argv: Sequence[str], folder: str, seconds: float) -> Mapping[str, Any]:
    """Runs a test."""
    return run(
        argv,
        folder=folder,
        environment={**USUAL, "HOME": os.environ["HOME"]},
        seconds=seconds,
        kept_bytes=MAX_OUTPUT_BYTES,
        merged=True,
    )


def aider(order: Any, port: int, failure: str) -> Mapping[str, Any]:
    """Runs Aider on the task alone."""
    message = order["task"] + (f"\n\nThe test fails:\n{failure}" if failure else "")
    return run(
        argv(order, ALONE, message),
        folder=order["folder"],
        environment=environment(port),
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
    worktree.mark()  # what the test writes is no change of Aider
    failure = before["output"][-MAX_FAILURE_CHARS:] if before and before["exit_code"] else ""
    done = aider(order, serve(connection), failure)
    changed = worktree.changed()
    after = tested(test, folder, order["test_seconds"]) if test else None
    return {"aider": done, "before": before, "after": after, "changed": changed}


def wire() -> socket.socket:
    """The connection to the daemon, taken from standard input; the standard streams lead elsewhere afterwards."""
    taken = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return taken


def main() -> None:
    connection = Connection(wire())
    order = connection.order()
    deliver_with(lambda text: connection.send({"live": text}))
    connection.send({"done": work(order, connection)})
    os._exit(0)


if __name__ == "__main__":
    main()
