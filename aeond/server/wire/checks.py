"""Checks of form: lengths, ranges, characters. The service validates the meaning of a request.

Each check raises InvalidInputError with the path of the field, such as `plan.steps[3].description`, and one
of these reasons: EMPTY, TOO_LONG, TOO_MANY, OUT_OF_RANGE, UNPRINTABLE, RELATIVE_PATH, REQUIRED.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sized
from typing import Final

from google.protobuf.message import Message

from aeond.errors import InvalidInputError

MAX_ID_CHARS = 128
MAX_NAME_CHARS = 128
MAX_PATH_CHARS = 4_096
MAX_LABELS = 32
MAX_LABEL_CHARS = 512

# Control characters, line and paragraph separators, and overrides of the direction of text.
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def required(message: Message, field: str, path: str = "") -> None:
    """The sub-message is set."""
    if not message.HasField(field):
        _refuse(path or field, "must be set", "REQUIRED")


def bounded_text(text: str, field: str, most: int, *, least: int = 0) -> str:
    """`least` to `most` characters."""
    if len(text) < least or (least and not text.strip()):
        _refuse(field, "must not be empty", "EMPTY")
    if len(text) > most:
        _refuse(field, f"has {len(text)} characters; the limit is {most}", "TOO_LONG")
    return text


def word(text: str, field: str, most: int = MAX_ID_CHARS, *, optional: bool = False) -> str:
    """An id or name: printable, without a line break, at most `most` characters."""
    if not text and optional:
        return text
    bounded_text(text, field, most, least=1)
    if not text.isprintable():
        _refuse(field, "must contain printable characters only", "UNPRINTABLE")
    return text


def one_line(text: str, field: str, most: int, *, least: int = 0) -> str:
    """Text for people, in any script, without line breaks and other control characters."""
    if _CONTROLS.search(bounded_text(text, field, most, least=least)):
        _refuse(field, "must not contain control characters", "UNPRINTABLE")
    return text


def words(texts: Iterable[str], field: str, most: int, *, chars: int = MAX_ID_CHARS) -> tuple[str, ...]:
    """At most `most` ids or names."""
    checked = tuple(word(text, f"{field}[{index}]", chars) for index, text in enumerate(texts))
    at_most(checked, field, most)
    return checked


def at_most(items: Sized, field: str, most: int) -> None:
    if len(items) > most:
        _refuse(field, f"has {len(items)} entries; the limit is {most}", "TOO_MANY")


def at_least_one(items: Sized, field: str) -> None:
    if not items:
        _refuse(field, "must not be empty", "EMPTY")


def whole(number: int, field: str, least: int, most: int) -> int:
    if not least <= number <= most:
        _refuse(field, f"must be from {least} to {most}, not {number}", "OUT_OF_RANGE")
    return number


def real(number: float, field: str, least: float, most: float) -> float:
    """A finite number within bounds."""
    if not math.isfinite(number) or not least <= number <= most:
        _refuse(field, f"must be from {least:g} to {most:g}, not {number}", "OUT_OF_RANGE")
    return number


def folder_path(text: str, field: str) -> str:
    """The absolute path of a folder, or "" for none. Whether the folder exists is not checked."""
    if text:
        word(text, field, MAX_PATH_CHARS)
        if not text.startswith("/"):
            _refuse(field, "must be an absolute path", "RELATIVE_PATH")
    return text


def labels(given: Mapping[str, str], field: str) -> dict[str, str]:
    at_most(given, field, MAX_LABELS)
    return {
        word(name, field, MAX_NAME_CHARS): one_line(text, field, MAX_LABEL_CHARS)
        for name, text in given.items()
    }


def _refuse(field: str, what: str, reason: str) -> None:
    raise InvalidInputError(f"{field} {what}.", reason=reason, field=field)
