"""A program on a pseudo-terminal of its own, whose screen may show anything."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic

SECONDS = 120.0
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[^\[]|\r")


class PtyProgram:
    """Types into the program and waits for text on its screen. `raw` is all output, `text` the same without control
    sequences."""

    def __init__(self, process: "subprocess.Popen[bytes]", ours: int) -> None:
        self.process = process
        self.raw = b""
        self._ours = ours
        self._seen = 0

    @property
    def text(self) -> str:
        return _SEQUENCE.sub("", self.raw.decode(errors="replace"))

    def wait(self, words: str) -> str:
        """Waits for words that came after those of the last wait: the text in between."""
        end = monotonic() + SECONDS
        while words not in self.text[self._seen :]:
            if not self._read(end - monotonic()):
                raise AssertionError(f"the program ended, or took too long, without {words!r}:\n{self.text}")
        begin = self._seen
        self._seen = self.text.index(words, begin) + len(words)
        return self.text[begin : self._seen]

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def end(self) -> int:
        """Reads to the end of the program: its exit code."""
        end = monotonic() + SECONDS
        while self._read(end - monotonic()):
            pass
        return self.process.wait(max(end - monotonic(), 1.0))

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(seconds, 0))
        try:
            piece = os.read(self._ours, 65_536) if ready else b""
        except OSError:  # the program has closed its terminal
            piece = b""
        self.raw += piece
        return bool(piece)


@contextmanager
def pty_program(
    command: Sequence[str], environment: Mapping[str, str], rows: int = 30, columns: int = 100
) -> Iterator[PtyProgram]:
    """The program as the leader of a session with the terminal as its own; killed at the end of the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        ["setsid", "--ctty", *command], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    try:
        yield PtyProgram(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
