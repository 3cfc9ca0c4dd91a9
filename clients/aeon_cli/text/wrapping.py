"""Wraps streamed text at word boundaries to the width of the terminal."""

import re
from collections.abc import Callable
from typing import TextIO

from aeon_cli.text.printable import printable, width_of
from aeon_cli.text.terminals import look_at

_PIECES = re.compile(r"\n|[^\S\n]+|\S+")
_TAB_CELLS = 8


class Flow:
    """Accepts text in pieces and writes lines of at most `columns` cells.

    A word is buffered until it is complete, so that it never moves to the next line after being printed. Text
    in scripts without spaces is written immediately and wrapped by the terminal, and so is text between ```
    fences. `columns` 0 disables wrapping. Call `finish` at the end.
    """

    def __init__(self, write: Callable[[str], object], columns: int) -> None:
        self._write = write
        self._columns = columns
        self._column = 0
        self._blank = ""
        self._word = ""
        self._fenced = False

    def feed(self, text: str) -> None:
        for piece in _PIECES.findall(printable(text)):
            if piece == "\n":
                self._end_word()
                self._write("\n")
                self._column, self._blank = 0, ""
            elif piece.isspace():
                self._end_word()
                self._blank += piece
            else:
                self._word += piece
                if not self._word.isascii():
                    self._end_word()

    def finish(self) -> None:
        """Writes buffered text and ends an unfinished line."""
        self._end_word()
        if self._column:
            self._write("\n")
        self._column, self._blank = 0, ""

    def _end_word(self) -> None:
        word, self._word = self._word, ""
        if not word:
            return
        blank, self._blank = self._blank, ""
        cells, gap = width_of(word), width_of(blank.replace("\t", " " * _TAB_CELLS))
        if not self._column and word.startswith("```"):
            self._fenced = not self._fenced
        # A space at the start of a line is indentation; a word longer than a line fits on none.
        breakable = self._column and blank and cells <= self._columns and not self._fenced
        if breakable and self._column + gap + cells > self._columns:
            self._write("\n" + word)
            self._column = cells
        else:
            self._write(blank + word)
            self._column += gap + cells
        if self._columns and self._column > self._columns:
            self._column = (self._column - 1) % self._columns + 1  # the terminal wrapped the line itself


def print_flowing(words: str, stream: TextIO) -> None:
    """Prints lines of text, wrapped at word boundaries if the stream is a terminal."""
    terminal = look_at(stream)
    flow = Flow(stream.write, terminal.columns if terminal.live else 0)
    flow.feed(words)
    flow.finish()
