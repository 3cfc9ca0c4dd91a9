"""Lets Aider change the files of a folder, and tests them: the program that runs in the sandbox.

It is started with the connection to the daemon as standard input and output, and reads one line of JSON, the order.
Aider asks the model by HTTP on the loopback of the sandbox, which has no other network; each request goes over the
connection as a line, and so do the answer, the output while it comes, and the result at the end.
"""

import os
import re
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final

from aeond.capabilities.aider.inside.aider_program import ALONE, EXAMPLES, argv, environment, with_tests
from aeond.capabilities.aider.inside.connection import Connection, serve
from aeond.capabilities.aider.inside.losses import lost_names
from aeond.capabilities.aider.inside.repository import USUAL, Worktree
from aeond.capabilities.aider.tests_found import is_code, is_test
from aeond.capabilities.hands.inside.programs import run
from aeond.capabilities.sandbox.live_output import deliver_with

MAX_OUTPUT_BYTES: Final = 32 << 10
MAX_FAILURE_CHARS: Final = 2_000  # of a failing test, for the model
MAX_ATTEMPTS: Final = 8
MAX_NAMES: Final = 20
MAX_NAME_CHARS: Final = 100
MAX_REASON_CHARS: Final = 200
NO_TESTS: Final = (4, 5, 126, 127)  # of pytest, and of programs that cannot be started
KEEP: Final = "Keep everything else in the files as it is."
TEMPERATURE: Final = 0.7  # of all attempts but the first
_MISSING: Final = re.compile(r"No module named '?([A-Za-z_]\w*)")


_outcome: Final = partial(run, kept_bytes=MAX_OUTPUT_BYTES, merged=True)


def tested(argv: Sequence[str], folder: str, seconds: float) -> Mapping[str, Any]:
    environment = {**USUAL, "HOME": os.environ["HOME"]}
    return _outcome(argv, folder=folder, environment=environment, seconds=seconds)


def message_for(order: Any, failure: str) -> str:
    """The task with the failing test. Paths in it are relative, so that the answer does not depend on where the copy is."""
    shown = failure.replace(f"{order['folder']}/", "")
    failing = (
        f"The test fails:\n{shown}\n\nRepair {_listed(order['files'])}, and leave the tests as they are."
        if failure
        else ""
    )
    return "\n\n".join(filter(None, (order["task"], failing, KEEP)))


def insisting(order: Any, message: str) -> str:
    """The message for a model that has explained a change and not made it."""
    return f"{message}\n\nReturn the whole new content of each file that has to be changed, of {_listed(order['files'])}."


def _listed(files: Sequence[str]) -> str:
    return ", ".join(files) or "the files"


def aider(order: Any, port: int, message: str, number: int, seconds: float) -> Mapping[str, Any]:
    """Lets Aider make its attempt of this number."""
    command = argv(order, ALONE, message, TEMPERATURE if number else 0.0)
    return _outcome(command, folder=order["folder"], environment=environment(port), seconds=seconds)


@dataclass
class Attempt:
    """What came of an attempt: `asked` are the numbers of the questions in it, `state` is a snapshot of its files."""

    aider: Mapping[str, Any]
    after: Mapping[str, Any] | None
    changed: list[str]
    lost: frozenset[str]
    asked: tuple[int, int]
    state: str

    @property
    def flaws(self) -> tuple[bool, bool, bool, int]:
        """The worst first: it changed nothing, was cut off, leaves the test failing, or has lost names."""
        cut = bool(self.aider["exit_code"] or self.aider["stopped"])
        failing = bool(self.after and self.after["exit_code"])
        return not self.changed, cut, failing, len(self.lost)

    @property
    def good(self) -> bool:
        return not any(self.flaws)


def work(order: Any, connection: Connection) -> Mapping[str, Any]:
    """The outcome of Aider's best attempt, of the tests before and after it (None: there are none), and the changed files.

    Each attempt begins with the files as they were, until one passes the test and has lost nothing: a small model that has seen its own
    mistake repeats it.
    """
    folder, test = order["folder"], order["test"]
    os.chdir(folder)
    worktree = Worktree(folder)
    worktree.begin()
    before = tested(test, folder, order["test_seconds"]) if test else None
    unusable = why_unusable(before, order["task"]) if before and order["test_found"] else ""
    before = None if unusable else before
    worktree.mark()  # what the test writes is no change of Aider
    failing = bool(before and before["exit_code"])
    order = with_tests(order, failing=failing or bool(unusable))
    failure = before["output"][-MAX_FAILURE_CHARS:] if before and failing else ""
    tests = [name for name in worktree.marked() if is_test(name) and name not in order["files"]]
    fixed = [*order["read"], *(tests if failing else ())]
    original = texts(filter(is_code, worktree.marked()))
    port, message = serve(connection), message_for(order, failure)
    left, attempts = order["seconds"], list[Attempt]()
    for number in range(MAX_ATTEMPTS):
        begun = connection.asked
        done = aider(order, port, message, number, left)
        worktree.restore(fixed)
        worktree.discard([*EXAMPLES, *(name for name in worktree.changed() if is_prose(name, order["task"]))])
        changed = worktree.changed()
        state = worktree.snapshot()
        after = tested(test, folder, order["test_seconds"]) if before and changed else None
        lost = lost_names(original, texts([*original, *filter(is_code, changed)]), order["task"])
        attempts.append(Attempt(done, after, changed, lost, (begun, connection.asked), state))
        left -= done["seconds"] + (after["seconds"] if after else 0.0)
        if attempts[-1].good or connection.refused or done["exit_code"] or left < done["seconds"]:
            break
        message = message if changed else insisting(order, message_for(order, failure))
        worktree.show()
    best = min(attempts, key=lambda one: one.flaws)
    worktree.show(best.state)
    return {
        "aider": best.aider,
        "before": before,
        "after": best.after,
        "changed": best.changed,
        "lost": sorted({name[:MAX_NAME_CHARS] for name in best.lost})[:MAX_NAMES],
        "asked": best.asked,
        "unusable": unusable,
    }


def is_prose(name: str, task: str) -> bool:
    """Whether a name has spaces that the task does not have, as that of a file that a sentence above a block of code became."""
    last = PurePosixPath(name).name
    return len(last.split()) > 1 and last not in task


def why_unusable(outcome: Mapping[str, Any], task: str) -> str:
    """Why a test that was found by its name says nothing here: it cannot be started, tests nothing, or needs a missing module
    that the task does not name; "" if it says something."""
    output = outcome["output"] or outcome["errors"]
    missing = [name for name in _MISSING.findall(output) if name not in task]
    if outcome["exit_code"] in NO_TESTS or "Ran 0 tests" in output or missing:
        lines = [line for line in output.splitlines() if _MISSING.search(line)] or output.split("\n")
        return (" ".join(lines[0].split()) or f"exit code {outcome['exit_code']}")[:MAX_REASON_CHARS]
    return ""


def texts(names: Iterable[str]) -> Mapping[str, str]:
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
