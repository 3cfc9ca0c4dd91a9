"""Escapes text from outside, such as a tool file's error, so that it cannot control the terminal that shows it."""

import json
import re
from typing import Any, Final

# Everything outside plain printable ASCII is checked further; most text has none of it.
_SUSPECTS: Final = re.compile(r"[^\x20-\x7e]")


def printable(text: str) -> str:
    """The text with lines and tabs kept. Control characters, direction overrides, invisible characters and lone
    surrogates become escapes.
    """
    return _SUSPECTS.sub(_escaped, text)


def json_line(value: Any) -> str:
    """A JSON value on one line, in readable script, with the same characters escaped."""
    return _SUSPECTS.sub(_json_escaped, json.dumps(value, ensure_ascii=False, default=str))


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    if character in "\n\t" or character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _json_escaped(match: re.Match[str]) -> str:
    character = match.group()
    return character if character.isprintable() else json.dumps(character)[1:-1]
