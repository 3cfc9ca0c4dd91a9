"""Prints a run's answer on standard output: streamed to a terminal, written once to a pipe."""

from typing import TextIO

from aeon_cli.text.printable import printable
from aeon_cli.text.terminals import Terminal
from aeon_cli.text.wrapping import Flow


class AnswerWriter:
    """Prints one answer. Call `stream` while the text arrives and `finish` with the final text."""

    def __init__(self, out: TextIO, terminal: Terminal) -> None:
        self._out = out
        self.streams = terminal.live  # partial text is printed as it arrives
        self._columns = min(terminal.columns, 100) if terminal.live else 0
        self._flow = Flow(out.write, self._columns)
        self._written = ""

    def stream(self, text: str) -> None:
        """Prints the text so far. Terminals only: a pipe receives the answer once it is final."""
        if not self.streams or not text:
            return
        if not text.startswith(self._written):
            self._flow.finish()
            self._out.write("\n")  # the answer was restarted: the text on the screen is not a prefix of it
            self._written = ""
        self._flow.feed(text[len(self._written) :])
        self._written = text
        self._out.flush()

    def break_off(self) -> None:
        """Ends the current line because other output follows."""
        self._flow.finish()
        self._out.flush()

    def finish(self, text: str) -> None:
        """Prints the final answer, without the part that is already on the screen."""
        if not self.streams:
            self._out.write(printable(text).rstrip("\n") + "\n")
        elif self._written.strip() != text.strip():
            self.stream(text)
        self._flow.finish()
        self._out.flush()
