"""Escapes text from models and tools so that it cannot control the terminal.

Control characters, direction overrides, line separators, invisible tags and lone surrogates become escapes,
also in pipes, because captured output may be printed later. Widths are counted in terminal cells, because
many scripts use two cells per character.
"""

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

# Format characters that only shape adjacent text, such as joiners in emoji and scripts.
_HARMLESS_FORMATS = frozenset("\u00ad\u200c\u200d")
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Everything outside plain printable ASCII is checked further; most text has none of it.
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
    """The text with lines and tabs kept and all other control characters escaped."""
    return _escaped(text.replace("\r\n", "\n"), keep="\n\t", escape=_escape)


def one_line(text: str) -> str:
    """The text on one line: runs of spaces, line ends and tabs become one space; the rest as in
    `printable`.
    """
    return _escaped(" ".join(text.split()), keep="", escape=_escape)


def json_line(value: Any) -> str:
    """A JSON value on one line, in readable script, with control characters escaped."""

    def escape(character: str) -> str:
        return json.dumps(character)[1:-1]

    return _escaped(json.dumps(value, ensure_ascii=False, allow_nan=False), keep="", escape=escape)


def width_of(text: str) -> int:
    """The number of terminal cells that a line takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, cells: int, *, ellipsis: str = "…") -> str:
    """The line, truncated to at most that many cells; an ellipsis marks the cut."""
    if width_of(text) <= cells:
        return text
    if cells <= len(ellipsis):
        return ellipsis[: max(cells, 0)]
    from rich.cells import set_cell_size

    return set_cell_size(text, cells - len(ellipsis)).rstrip() + ellipsis


def shortened(text: str, characters: int) -> str:
    """The text, truncated to at most that many characters; an ellipsis marks the cut."""
    return text if len(text) <= characters else f"{text[: characters - 1].rstrip()}…"


def fit_end(text: str, cells: int, *, ellipsis: str = "…") -> str:
    """Like `fit`, but keeps the end and truncates the beginning."""
    if width_of(text) <= cells:
        return text
    kept = text
    while kept and width_of(kept) > cells - len(ellipsis):
        kept = kept[1:]
    return (ellipsis + kept)[: max(cells, 0)]


def short_value(value: Any) -> str:
    """Like `shown_value`, for narrow columns: an object with one member is shown as its value."""
    if isinstance(value, dict) and len(value) == 1:
        return shown_value(next(iter(value.values())))
    return shown_value(value)


def shown_value(value: Any) -> str:
    """A JSON value for people: text as it is, any other value as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
