"""The answer on standard output: as it is written on a terminal, whole and once in a pipe."""

from typing import TextIO

from aeon_cli.flowing import Flow
from aeon_cli.printable import printable
from aeon_cli.terminals import Terminal


class AnswerWriter:
    """Prints one answer. `stream` while it is being written, `finish` with what it became."""

    def __init__(self, out: TextIO, terminal: Terminal) -> None:
        self._out = out
        self._streams = terminal.live
        self._columns = min(terminal.columns, 100) if terminal.live else 0
        self._flow = Flow(out.write, self._columns)
        self._written = ""

    @property
    def streams(self) -> bool:
        """Whether text is printed while it is written."""
        return self._streams

    def stream(self, text: str) -> None:
        """The text so far. Printed on a terminal only: a pipe gets the answer once it is sure."""
        if not self._streams or not text:
            return
        if not text.startswith(self._written):
            self._flow.finish()
            self._out.write("\n")  # it was begun anew: what stands there is not the answer
            self._written = ""
        self._flow.feed(text[len(self._written) :])
        self._written = text
        self._out.flush()

    def break_off(self) -> None:
        """Ends the line that is begun, because something else is about to be printed."""
        self._flow.finish()
        self._out.flush()

    def finish(self, text: str) -> None:
        """The answer as it is. What of it already stands on the screen is not repeated."""
        if not self._streams:
            self._out.write(printable(text).rstrip("\n") + "\n")
        elif self._written.strip() != text.strip():
            self.stream(text)
        self._flow.finish()
        self._out.flush()
