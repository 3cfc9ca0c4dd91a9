"""Hands the terminal over to a program of the daemon, and takes it back."""

import os
import select
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from aeon_cli.terminal.screen_filter import ScreenFilter
from aeond_client.errors import AeondError
from aeond_client.serving.lent_terminal import LentTerminal

READ_BYTES = 1 << 12
# The messages that wake the thread that sends keys.
RESIZED, ENDED = b"r", b"e"
# What a program may have left: a hidden cursor, colours, pasting, mouse and focus reports, the second screen.
RESTORED = (
    b"\x1b[?25h\x1b[0m\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?1049l\x1b[?7h"
)


def has_terminal() -> bool:
    """Whether there is a terminal to hand over."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class Handover:
    """Lends the terminal to a run. It stays ours until the program draws on it: the run may have questions before.

    `begin` and `end` are called in the main thread, which must not use the terminal in between but for questions.
    """

    def __init__(self, run_id: str, socket: str) -> None:
        self._run_id = run_id
        self._socket = socket
        self._lent: tuple[LentTerminal, threading.Thread] | None = None
        self._drawn = False
        self._wake = (-1, -1)
        self._resized: Any = None

    @property
    def active(self) -> bool:
        """Whether the terminal is lent."""
        return self._lent is not None

    def begin(self) -> None:
        """Lends it in the background, unless it is lent."""
        if self._lent is not None and self._lent[1].is_alive():
            return
        self.end()
        sys.stdout.flush()
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
        kind = os.environ.get("TERM", "")
        lent = LentTerminal(self._run_id, kind=kind, rows=rows, columns=columns, socket=self._socket)
        lent.__enter__()  # left in `end`
        thread = threading.Thread(target=self._lend, args=(lent, (rows, columns)), daemon=True)
        self._wake = os.pipe()
        self._lent, self._drawn = (lent, thread), False
        self._resized = signal.signal(signal.SIGWINCH, self._resize)
        thread.start()

    def end(self) -> None:
        """Takes it back: at once from a program that has not drawn yet, else when that has ended."""
        if self._lent is None:
            return
        lent, thread = self._lent
        if not self._drawn:
            lent.hang_up()
        thread.join()
        lent.__exit__(None, None, None)
        self._lent = None
        signal.signal(signal.SIGWINCH, self._resized)
        for end in self._wake:
            os.close(end)

    def _lend(self, lent: LentTerminal, size: tuple[int, int]) -> None:
        try:
            screen = lent.screen()
            first = next(screen, None)
            failure = None
            if first is not None:
                self._drawn = True
                failure = _handed_over(lent, size, chain([first], screen), self._wake)
        except AeondError as error:
            failure = error
        if failure is not None:
            print(f"Aider was cut off: {failure.message}", file=sys.stderr)

    def _resize(self, _number: int, _frame: Any) -> None:
        os.write(self._wake[1], RESIZED)


def _handed_over(
    lent: LentTerminal, size: tuple[int, int], screen: Iterable[bytes], wake: tuple[int, int]
) -> AeondError | None:
    """Keys go to the program and its screen is shown until it ends: the daemon's error if it went away."""
    failures: list[AeondError] = []
    showing = threading.Thread(target=_show, args=(lent, screen, wake[1], failures), daemon=True)
    with _raw():
        showing.start()
        _type(lent, size, wake[0])
        showing.join()
    return failures[0] if failures else None


def _type(lent: LentTerminal, size: tuple[int, int], woken: int) -> None:
    """Sends the keys and each new size until the program has ended, or hangs up at the end of the input.

    A new size is sent before the keys typed after the change, so the program never reads keys with an outdated size.
    """
    keys = sys.stdin.fileno()
    while True:
        ready, _, _ = select.select([keys, woken], [], [])
        if woken in ready and ENDED in os.read(woken, READ_BYTES):
            return
        typed = os.read(keys, READ_BYTES) if keys in ready else None
        if typed == b"":
            lent.hang_up()
            return
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
        if (rows, columns) != size:
            size = (rows, columns)
            lent.resize(rows, columns)
        if typed:
            lent.type(typed)


def _show(lent: LentTerminal, outputs: Iterable[bytes], wake: int, failures: list[AeondError]) -> None:
    """Shows the screen in a thread of its own, and writes ENDED to `wake` when it ends."""
    screen = ScreenFilter()
    try:
        for output in outputs:
            shown = screen.drawn(output)
            while shown:
                shown = shown[os.write(sys.stdout.fileno(), shown) :]
    except AeondError as error:
        failures.append(error)
    except OSError:  # the terminal is closed
        lent.hang_up()
    finally:
        os.write(wake, ENDED)


@contextmanager
def _raw() -> Iterator[None]:
    """The terminal passes every key on while the context is open."""
    keys = sys.stdin.fileno()
    before = termios.tcgetattr(keys)
    tty.setraw(keys, termios.TCSADRAIN)
    try:
        yield
    finally:
        os.write(sys.stdout.fileno(), RESTORED)
        termios.tcsetattr(keys, termios.TCSAFLUSH, before)
