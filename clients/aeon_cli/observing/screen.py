"""The display of `aeonctl top`: redrawn in place on a terminal, printed once elsewhere."""

import sys
from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from aeon_cli.connection import print_json
from aeon_cli.observing.overview import HEADINGS, MOST_RUNS, Overview, lines_of, read_overview, rows_of
from aeon_cli.text.printable import fit
from aeon_cli.text.tables import print_table, table_lines
from aeon_cli.text.terminals import Terminal, console_on, look_at
from aeond_client import errors

if TYPE_CHECKING:
    from aeond_client.client import Client

_MORE = "and more: aeonctl runs"


def show_once(client: "Client", *, as_json: bool) -> None:
    """Prints one look at the daemon."""
    shown = read_overview(client)
    if as_json:
        print_json(shown)
        return
    unicode = look_at(sys.stdout).unicode
    print("\n".join(lines_of(shown)))
    print_table(HEADINGS, rows_of(shown, unicode=unicode))
    if shown.more_runs:
        print(_MORE)


def follow(client: "Client", seconds: float, *, as_json: bool, stop: Event) -> None:
    """Looks every `seconds` until `stop` is set. While the daemon does not answer, the last look stays and says so; as
    JSON, nothing is printed.
    """
    if as_json:
        _repeat(client, seconds, stop, lambda: MOST_RUNS, _print)
        return
    console = console_on(sys.stdout, look_at(sys.stdout))
    with Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
        _repeat(
            client,
            seconds,
            stop,
            _most,
            lambda shown, note: live.update(_drawn(shown, note, look_at(sys.stdout)), refresh=True),
        )


def _repeat(
    client: "Client",
    seconds: float,
    stop: Event,
    most: Callable[[], int],
    draw: Callable[[Overview | None, str], object],
) -> None:
    shown: Overview | None = None
    while not stop.is_set():
        note = ""
        try:
            shown = read_overview(client, most(), shown)
        except (errors.NoDaemonError, errors.UnavailableError, errors.TimedOutError) as error:
            if shown is None:
                raise
            note = error.message
        draw(shown, note)
        stop.wait(seconds)


def _print(shown: Overview | None, note: str) -> None:
    if shown is not None and not note:
        print_json(shown)
        sys.stdout.flush()  # the reader of a pipe gets each look at its time


def _most() -> int:
    """As many runs as the terminal has lines for."""
    return max(1, min(MOST_RUNS, look_at(sys.stdout).lines - 8))


def _drawn(shown: Overview | None, note: str, terminal: Terminal) -> Text:
    assert shown is not None
    lines = lines_of(shown)
    if note:
        lines.append(f"! {note.splitlines()[0]}")
    rows = rows_of(shown, unicode=terminal.unicode)
    body = table_lines(HEADINGS, rows, terminal.columns) if rows else ["No unfinished run."]
    room = max(terminal.lines - 2 - len(lines), 0)
    if shown.more_runs or len(body) > room:
        body = [*body[: room - 1], _MORE]
    drawn = [*lines, "", *body][: terminal.lines - 1]
    return Text(
        "\n".join(fit(line.rstrip(), terminal.columns) for line in drawn), no_wrap=True, overflow="crop"
    )
