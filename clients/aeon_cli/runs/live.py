"""The live view: a checklist that is redrawn in place."""

import time
from collections.abc import Callable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from aeon_cli.runs.checklist import Checklist
from aeon_cli.runs.rows import Row, rows_of
from aeon_cli.runs.views import View
from aeon_cli.text.terminals import Terminal, console_on
from aeond_client.events import Event

_FRAMES_PER_SECOND = 10
# Few enough lines that no terminal truncates the last frame, which stays.
_ALL_LINES = 100_000


class LiveView(View):
    """Redraws the checklist on a terminal; the finished list of steps stays on the screen."""

    def __init__(self, stream: TextIO, terminal: Terminal, *, clock: Callable[[], float] = time.time) -> None:
        self._console = console_on(stream, terminal)
        self._unicode = terminal.unicode
        self._clock = clock
        self._shown = Checklist()
        self._note = ""
        self._live: Live | None = None
        self._ended = False

    def show(self, shown: Checklist, event: Event) -> None:
        self._shown = shown
        self._note = ""
        self._draw()

    def note(self, words: str, left: str = "") -> None:
        self._note = f"{words}{left}"
        if self._ended:
            self._console.print(Text(self._note, style="yellow"))
        self._draw()

    def pause(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.transient = True  # it is redrawn below the other output
            live.stop()

    def end(self) -> None:
        if self._ended:
            return
        self._ended = True
        live, self._live = self._live, None
        if live is not None:
            self._note = ""
            live.stop()
            if self._shown.lines:
                self._console.print()

    def _draw(self) -> None:
        if self._live is None and not self._ended:
            self._live = Live(
                self,
                console=self._console,
                refresh_per_second=_FRAMES_PER_SECOND,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        now = self._clock()
        for row in rows_of(
            self._shown if not self._ended else self._shown.at_rest(),
            columns=options.max_width,
            lines=_ALL_LINES if self._ended else console.size.height,
            unicode=self._unicode,
            now=now,
            frame=int(now * _FRAMES_PER_SECOND),
        ):
            yield _text(row)
        if self._note:
            yield Text(self._note, style="yellow", overflow="fold")


def _text(row: Row) -> Text:
    return Text.assemble(*row, no_wrap=True, overflow="crop", end="\n")
