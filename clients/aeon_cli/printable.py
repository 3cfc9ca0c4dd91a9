"""Text from models and tools, made safe to show: nothing in it may drive the terminal.

Control characters, direction overrides, line separators, invisible tags and lone surrogates are shown
as escapes, in pipes too: what is captured today is printed tomorrow. Widths are counted in terminal
cells, because half of the world's text is two cells wide.
"""

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

# Format characters that shape the text around them and move nothing: joiners in emoji and scripts.
_HARMLESS_FORMATS = frozenset("\u00ad\u200c\u200d")
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Everything outside plain printable ASCII gets a closer look; most text has none of it.
_SUSPECTS = re.compile(r"[^\x20-\x7e]")


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_unsafe(character: str) -> bool:
    return unicodedata.category(character) in _UNSAFE_CATEGORIES and character not in _HARMLESS_FORMATS


def _escaped(text: str, *, keep: str, escape: Callable[[str], str]) -> str:
    def look(match: re.Match[str]) -> str:
        character = match.group()
        return escape(character) if character not in keep and _is_unsafe(character) else character

    return _SUSPECTS.sub(look, text)


def printable(text: str) -> str:
    """The text with its lines and tabs kept and everything else that could act escaped."""
    return _escaped(text.replace("\r\n", "\n"), keep="\n\t", escape=_escape)


def one_line(text: str) -> str:
    """The text on one line: runs of blanks, line ends and tabs become one space, the rest as `printable`."""
    return _escaped(" ".join(text.split()), keep="", escape=_escape)


def json_line(value: Any) -> str:
    """A JSON value on one line, in the readable script of its text, with nothing in it that could act."""

    def escape(character: str) -> str:
        return json.dumps(character)[1:-1]

    return _escaped(json.dumps(value, ensure_ascii=False, allow_nan=False), keep="", escape=escape)


def width_of(text: str) -> int:
    """How many terminal cells a line takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, cells: int, *, ellipsis: str = "…") -> str:
    """The line, cut to at most that many cells; an ellipsis stands for what was cut."""
    if width_of(text) <= cells:
        return text
    if cells <= len(ellipsis):
        return ellipsis[: max(cells, 0)]
    from rich.cells import set_cell_size

    return set_cell_size(text, cells - len(ellipsis)).rstrip() + ellipsis


def fit_end(text: str, cells: int, *, ellipsis: str = "…") -> str:
    """The same, with the end kept and the beginning cut."""
    if width_of(text) <= cells:
        return text
    kept = text
    while kept and width_of(kept) > cells - len(ellipsis):
        kept = kept[1:]
    return (ellipsis + kept)[: max(cells, 0)]


def short_value(value: Any) -> str:
    """The same where there is little room: an object with one name is its value."""
    if isinstance(value, dict) and len(value) == 1:
        return shown_value(next(iter(value.values())))
    return shown_value(value)


def shown_value(value: Any) -> str:
    """A JSON value as people read it: a text as it is, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
