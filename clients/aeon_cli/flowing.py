"""Text broken between words at the width of the terminal, while it is still being written."""

import re
from collections.abc import Callable
from typing import TextIO

from aeon_cli.printable import printable, width_of
from aeon_cli.terminals import look_at

_PIECES = re.compile(r"\n|[^\S\n]+|\S+")
_TAB_CELLS = 8


class Flow:
    """Takes text in pieces and writes it in lines of at most `columns` cells.

    A word is held back until it is whole, so that it never jumps to the next line when its end comes;
    text in a script without blanks is written at once and left to the terminal to break, and so is what
    stands between ``` fences. `columns` 0 breaks nothing. Call `finish` at the end.
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
        """Writes what was held back, and ends the line if one is begun."""
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
        # At the start of a line the blank is an indentation; a word longer than a line fits on none.
        breakable = self._column and blank and cells <= self._columns and not self._fenced
        if breakable and self._column + gap + cells > self._columns:
            self._write("\n" + word)
            self._column = cells
        else:
            self._write(blank + word)
            self._column += gap + cells
        if self._columns and self._column > self._columns:
            self._column = (self._column - 1) % self._columns + 1  # the terminal broke the line itself


def print_flowing(words: str, stream: TextIO) -> None:
    """Prints lines of text, broken between words where the stream is a terminal."""
    terminal = look_at(stream)
    flow = Flow(stream.write, terminal.columns if terminal.live else 0)
    flow.feed(words)
    flow.finish()
