"""A terminal for tests: a program on a pseudo terminal, and what stands on its screen."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unicodedata
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

_CONTROL = re.compile(r"\x1b\[(?P<numbers>[0-9;?]*)(?P<letter>[A-Za-z])|(?P<other>[\x00-\x1f\x7f\x9b])")


class Screen:
    """The display of a terminal with that many columns. Raises ValueError for control sequences other than
    colours, moving up, erasing a line and hiding the cursor: our programs print no others."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._rows: list[list[tuple[str, str]]] = [[]]
        self._colour = ""
        self._row = 0
        self._column = 0
        self.colours: set[str] = set()
        self.cursor_hidden = False

    @property
    def text(self) -> str:
        """The screen's lines without blanks at their ends."""
        return "\n".join("".join(shown for shown, _ in row).rstrip() for row in self._rows).rstrip("\n")

    @property
    def cells(self) -> tuple[tuple[tuple[str, str], ...], ...]:
        """Each row's characters with their colour, the numbers of the control sequence; "" for none."""
        return tuple(map(tuple, self._rows))

    def feed(self, output: str) -> None:
        position = 0
        while position < len(output):
            match = _CONTROL.match(output, position)
            if match is None:
                self._put(output[position])
                position += 1
                continue
            position = match.end()
            if match["other"]:
                self._act(match["other"])
            else:
                self._obey(match["numbers"], match["letter"])

    def _put(self, character: str) -> None:
        wide = unicodedata.east_asian_width(character) in {"W", "F"}
        if self._column + 1 + wide > self._columns:
            self._down()
            self._column = 0
        row = self._rows[self._row]
        row.extend((" ", "") for _ in range(self._column - len(row)))
        row[self._column : self._column + 1 + wide] = [
            (shown, self._colour) for shown in (character, "")[: 1 + wide]
        ]
        self._column += 1 + wide

    def _act(self, control: str) -> None:
        if control == "\r":
            self._column = 0
        elif control == "\n":
            self._down()
        else:
            raise ValueError(f"the program sent {control!r}")

    def _obey(self, numbers: str, letter: str) -> None:
        if letter == "m":
            self.colours.add(numbers)
            self._colour = "" if numbers in {"", "0"} else numbers
        elif letter == "A":
            self._row = max(self._row - int(numbers or 1), 0)
        elif (numbers, letter) == ("2", "K"):
            self._rows[self._row] = []
        elif (numbers, letter) in {("?25", "l"), ("?25", "h")}:
            self.cursor_hidden = letter == "l"
        else:
            raise ValueError(f"the program sent ESC [ {numbers} {letter}")

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append([])


class Terminal:
    """A running program and its terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", descriptor: int, columns: int) -> None:
        self.process = process
        self.screen = Screen(columns)
        self._descriptor = descriptor
        self._undecoded = b""

    async def read_until(self, words: str, seconds: float = 60.0) -> None:
        """Reads what the program draws until these words stand on the screen."""
        with anyio.fail_after(seconds):
            while words not in self.screen.text:
                if not await self.read_once():
                    raise AssertionError(f"the program ended without {words!r}:\n{self.screen.text}")

    async def read_to_end(self, seconds: float = 60.0) -> int:
        """Reads until the program ends, and returns its exit code."""
        with anyio.fail_after(seconds):
            while await self.read_once():
                pass
            return await anyio.to_thread.run_sync(self.process.wait, abandon_on_cancel=True)

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    async def read_once(self) -> bool:
        """Reads what there is, waiting for something; False once the program has closed its terminal."""
        await anyio.wait_readable(self._descriptor)
        try:
            data = os.read(self._descriptor, 65_536)
        except OSError:  # how Linux tells that the other end of a pseudo terminal is closed
            return False
        self._undecoded += data
        for cut in range(4):  # a character may be cut at the end of what was read
            head = self._undecoded[: len(self._undecoded) - cut]
            try:
                text = head.decode()
            except UnicodeDecodeError:
                continue
            self._undecoded = self._undecoded[len(head) :]
            self.screen.feed(text)
            break
        return bool(data)


@asynccontextmanager
async def terminal(
    command: Sequence[str], *, environment: Mapping[str, str], columns: int = 80, lines: int = 24
) -> AsyncIterator[Terminal]:
    """Runs a program on a pseudo terminal of that size; it is ended with the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, process_group=0
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours, columns)
    finally:
        if process.poll() is None:
            process.kill()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(process.wait)
        os.close(ours)
