"""Lets Aider change the files of a folder, and tests them: the program that runs in the sandbox.

It is started with the connection to the daemon as standard input and output, and reads one line of JSON, the order.
Aider asks the model by HTTP on the loopback of the sandbox, which has no other network; each request goes over the
connection as a line, and so do the answer, the output while it comes, and the result at the end.
"""

import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aeond.capabilities.aider.inside.aider_program import ALONE, EXAMPLES, argv, environment, with_tests
from aeond.capabilities.aider.inside.connection import Connection, serve
from aeond.capabilities.aider.inside.losses import lost_names
from aeond.capabilities.aider.inside.repository import USUAL, Worktree
from aeond.capabilities.hands.inside.programs import run
from aeond.capabilities.sandbox.live_output import deliver_with

MAX_OUTPUT_BYTES: Final = 32 << 10
MAX_FAILURE_CHARS: Final = 2_000  # of a failing test, for the model
MAX_ATTEMPTS: Final = 8
MAX_NAMES: Final = 20
KEEP: Final = "Keep everything else in the files as it is."
TEMPERATURE: Final = 0.7  # of all attempts but the first


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


def message_for(order: Any, failure: str) -> str:
    """The task with the failing test, in which paths begin in the folder: other words for the same place would lead to other answers."""
    shown = failure.replace(f"{order['folder']}/", "")
    failing = (
        f"The test fails:\n{shown}\n\nRepair {_listed(order['files'])}, and leave the tests as they are."
        if failure
        else ""
    )
    return "\n\n".join(filter(None, (order["task"], failing, KEEP)))


def urged(order: Any, message: str) -> str:
    """The message for a model that has explained a change and not made it."""
    return f"{message}\n\nReturn the whole new content of each file that has to be changed, of {_listed(order['files'])}."


def _listed(files: Sequence[str]) -> str:
    return ", ".join(files) or "the files"


def aider(order: Any, port: int, message: str, number: int, seconds: float) -> Mapping[str, Any]:
    """Lets Aider make its attempt of this number."""
    return run(
        argv(order, ALONE, message, TEMPERATURE if number else 0.0),
        folder=order["folder"],
        environment=environment(port),
        seconds=seconds,
        kept_bytes=MAX_OUTPUT_BYTES,
        merged=True,
    )


def work(order: Any, connection: Connection) -> Mapping[str, Any]:
    """The outcome of Aider, of the tests before and after it (None: there are none), and the changed files.

    Each attempt begins with the files as they were, until one passes the test and has lost nothing: a small model that has seen its own
    mistake repeats it.
    """
    folder, test = order["folder"], order["test"]
    os.chdir(folder)
    worktree = Worktree(folder)
    worktree.begin()
    before = tested(test, folder, order["test_seconds"]) if test else None
    worktree.mark()  # what the test writes is no change of Aider
    failure = before["output"][-MAX_FAILURE_CHARS:] if before and before["exit_code"] else ""
    order = with_tests(order, failing=bool(before and before["exit_code"]))
    port, message = serve(connection), message_for(order, failure)
    original = texts(order["files"])
    left, lost = order["seconds"], frozenset[str]()
    for number in range(MAX_ATTEMPTS):
        if number:
            worktree.reset()
        done = aider(order, port, message, number, left)
        worktree.restore(order["read"])
        worktree.discard(EXAMPLES)
        changed = worktree.changed()
        after = tested(test, folder, order["test_seconds"]) if test else None
        left -= done["seconds"] + (after["seconds"] if after else 0.0)
        if connection.refused or done["exit_code"] or left <= 0:
            break
        lost = lost_names(original, texts([*original, *changed]), order["task"])
        if changed and not lost and not (after and after["exit_code"]):
            break
        message = message if changed else urged(order, message_for(order, failure))
    return {
        "aider": done,
        "before": before,
        "after": after,
        "changed": changed,
        "lost": sorted(lost)[:MAX_NAMES],
    }


def texts(names: Sequence[str]) -> Mapping[str, str]:
    """The contents of those of the files that are there."""
    paths = [Path(name) for name in names]
    return {
        str(path): path.read_text("utf-8", "replace")
        for path in paths
        if path.is_file() and not path.is_symlink()
    }


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
