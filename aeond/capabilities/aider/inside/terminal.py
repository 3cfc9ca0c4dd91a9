"""Lets a user work with Aider at a terminal: the program that runs in the sandbox.

It is started as `work` is. Aider has a pseudo-terminal of its own; keys, sizes and screens go over the connection.
"""

import base64
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from aeond.capabilities.aider.inside.aider_program import INPUTS, WITH_USER, argv, environment, with_tests
from aeond.capabilities.aider.inside.connection import Connection, serve
from aeond.capabilities.aider.inside.repository import Worktree
from aeond.capabilities.aider.inside.work import tested, wire

READ_BYTES: Final = 1 << 15
HANG_UP_SECONDS: Final = 5.0
MAX_INPUTS: Final = 100
MAX_INPUT_CHARS: Final = 500
MAX_SUBJECTS: Final = 50
PASTE: Final = ("\x1b[200~", "\x1b[201~")


class Screen:
    """A pseudo-terminal and the program on it."""

    def __init__(self) -> None:
        self._ours, self.program_end = pty.openpty()
        self._process: subprocess.Popen[bytes] | None = None
        self._hung_up = threading.Event()
        self._keys: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=self._type, daemon=True).start()
        state = termios.tcgetattr(self.program_end)
        # Keys that are typed before Aider reads them are shown by Aider alone, and complete without a line's end.
        state[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(self.program_end, termios.TCSANOW, state)

    def obey(self, message: Any) -> None:
        """Types, changes the size, or hangs up."""
        match message:
            case {"typed": str(keys)}:
                self.type(base64.b64decode(keys))
            case {"rows": int(rows), "columns": int(columns)}:
                self.resize(rows, columns)
            case {"hangup": True}:
                self._hung_up.set()
                if self._process is not None:
                    threading.Thread(target=self._end, args=(self._process,), daemon=True).start()
            case _:
                pass  # of a later version

    def type(self, keys: bytes) -> None:
        """In the background: the program may be busy, and the terminal keeps 4 KiB."""
        self._keys.put(keys)

    def resize(self, rows: int, columns: int) -> None:
        with suppress(OSError):
            fcntl.ioctl(self.program_end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def run(
        self, argv: list[str], folder: str, environment: Mapping[str, str], connection: Connection
    ) -> int:
        """Runs a program to its end, with the terminal as its own: its exit code."""
        process = self._process = subprocess.Popen(
            ["setsid", "--ctty", *argv],  # noqa: S607 - found on the path of the sandbox
            cwd=folder,
            env={**os.environ, **environment},
            stdin=self.program_end,
            stdout=self.program_end,
            stderr=self.program_end,
        )
        if self._hung_up.is_set():
            self._end(process)
        showing = threading.Thread(target=self._show, args=(connection,))
        showing.start()
        code = process.wait()
        os.close(self.program_end)  # the last one, so that reading ends
        showing.join(HANG_UP_SECONDS)
        return code if code >= 0 else 128 - code

    def _type(self) -> None:
        with suppress(OSError):  # the program has ended
            while keys := self._keys.get():
                while keys:
                    keys = keys[os.write(self._ours, keys) :]

    def _show(self, connection: Connection) -> None:
        with suppress(OSError):  # EIO: no program has the other end any more
            while piece := os.read(self._ours, READ_BYTES):
                connection.send({"screen": base64.b64encode(piece).decode()})

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        for number in (signal.SIGHUP, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(HANG_UP_SECONDS)
                return


def inputs() -> list[str]:
    """What the user typed, the oldest first, as Aider noted it."""
    with suppress(OSError):
        text = Path(os.environ["HOME"], INPUTS).read_text(encoding="utf-8", errors="replace")
        entries = [
            "\n".join(line[1:] for line in block.splitlines() if line.startswith("+"))
            for block in text.split("\n# ")
        ]
        return [entry[:MAX_INPUT_CHARS] for entry in entries if entry][:MAX_INPUTS]
    return []


def work(order: Any, connection: Connection, screen: Screen) -> Mapping[str, Any]:
    """The outcome of Aider, what was typed and committed, the outcome of the test afterwards, and the changed files."""
    folder, test, terminal = order["folder"], order["test"], order["terminal"]
    os.chdir(folder)
    worktree = Worktree(folder)
    worktree.begin()
    screen.resize(terminal["rows"], terminal["columns"])
    if order["task"]:
        screen.type(f"{PASTE[0]}{order['task']}{PASTE[1]}\r".encode())
    usual = {**environment(serve(connection)), "TERM": terminal["kind"]}
    code = screen.run([*argv(with_tests(order, failing=True), WITH_USER, "")], folder, usual, connection)
    changed = worktree.changed()
    after = tested(test, folder, order["test_seconds"]) if test and changed else None
    return {
        "exit_code": code,
        "inputs": inputs(),
        "commits": worktree.subjects(MAX_SUBJECTS),
        "after": after,
        "changed": changed,
    }


def main() -> None:
    screen = Screen()
    connection = Connection(wire(), screen.obey)
    order = connection.order()
    connection.send({"done": work(order, connection, screen)})
    os._exit(0)


if __name__ == "__main__":
    main()
