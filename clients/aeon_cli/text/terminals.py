"""Detects the abilities of an output stream."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_FALLBACK = (80, 24)


@dataclass(frozen=True, slots=True)
class Terminal:
    """The abilities of a stream.

    `live`: lines may be redrawn; `colour`: styles may be used; `unicode`: characters beyond ASCII may be
    drawn. `columns` and `lines` are the size of the terminal, 80 by 24 if the stream is not one.
    """

    live: bool
    colour: bool
    unicode: bool
    columns: int
    lines: int


def look_at(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Terminal:
    """Detects the abilities from the stream and the user's environment."""
    is_terminal = stream.isatty()
    live = is_terminal and environment.get("TERM", "dumb") not in {"dumb", "unknown", ""}
    size = _size(stream, environment) if is_terminal else os.terminal_size(_FALLBACK)
    return Terminal(
        live=live,
        colour=live and not environment.get("NO_COLOR"),
        unicode=_draws_unicode(stream, environment),
        columns=max(size.columns, 20),
        lines=max(size.lines, 5),
    )


def console_on(stream: TextIO, terminal: Terminal) -> "Console":
    """A console of rich on a terminal, which prints texts as they are."""
    from rich.console import Console

    return Console(
        file=stream,
        force_terminal=True,
        no_color=not terminal.colour,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _size(stream: TextIO, environment: Mapping[str, str]) -> os.terminal_size:
    if environment.get("COLUMNS", "").isdecimal():
        return shutil.get_terminal_size(_FALLBACK)
    try:
        size = os.get_terminal_size(stream.fileno())
    except OSError:
        return os.terminal_size(_FALLBACK)
    return size if size.columns else os.terminal_size(_FALLBACK)


def _draws_unicode(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether both Python and the user's locale use UTF-8.

    In the C locale Python writes UTF-8 although the terminal may not display it.
    """
    if "utf" not in (getattr(stream, "encoding", None) or "").lower():
        return False
    locale = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or ""
    return "utf-8" in locale.lower() or "utf8" in locale.lower()
