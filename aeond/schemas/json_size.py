"""How large a value is as JSON text, found without writing that text.

What a tool returns is foreign: it may be a hundred megabytes, hold NaN, a class of its own or itself.
The walk stops at the first thing that JSON lacks and as soon as the limit is passed, so that it costs at
most the limit, whatever it was given.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Final

from aeond.errors import InvalidInputError
from aeond.schemas.pointers import pointer_token

MAX_DEPTH: Final = 64
"""Deeper values cannot be distinguished from values that contain themselves, and no reader on the wire takes them."""

_MAX_INTEGER_BITS: Final = 14_000  # Python refuses to write integers of more than 4,300 digits
_write_text = json.JSONEncoder(ensure_ascii=False).encode


def json_size(value: object, limit: int, depth: int = MAX_DEPTH) -> int:
    """The bytes of `value` as compact JSON in UTF-8, at most `limit`.

    Raises InvalidInputError: reason TOO_LARGE, or NOT_JSON with the JSON pointer of the part at fault in
    `field`.
    """
    if isinstance(value, str):
        size = _text_size(value, limit)
    elif value is None or value is True:
        size = 4
    elif value is False:
        size = 5
    elif isinstance(value, int):
        if value.bit_length() > _MAX_INTEGER_BITS:
            raise _not_json("an integer of thousands of digits cannot be written")
        size = len(int.__repr__(value))
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _not_json(f"{float.__repr__(value)} is not a JSON number")
        size = len(float.__repr__(value))
    elif isinstance(value, dict):
        size = _object_size(value, limit, depth)
    elif isinstance(value, (list, tuple)):
        size = _array_size(value, limit, depth)
    else:
        raise _not_json(f"a value of type {type(value).__name__} is not JSON")
    if size > limit:
        raise _too_large()
    return size


def _text_size(text: str, limit: int) -> int:
    if len(text) + 2 > limit:
        raise _too_large()
    try:
        return len(_write_text(text).encode())
    except UnicodeEncodeError:
        raise _not_json("text with half a surrogate pair is not Unicode") from None


def _object_size(value: Mapping[object, object], limit: int, depth: int) -> int:
    _check_depth(depth)
    if 4 * len(value) > limit:  # each member takes two quotes, a colon and a value
        raise _too_large()
    size = 1 + max(1, len(value))
    for key, member in value.items():
        if not isinstance(key, str):
            raise _not_json(f"the key {key!r:.40} is no text")
        size += 1 + _text_size(key, limit - size)
        try:
            size += json_size(member, limit - size, depth - 1)
        except InvalidInputError as error:
            raise _placed(error, key) from None
    return size


def _array_size(value: Sequence[object], limit: int, depth: int) -> int:
    _check_depth(depth)
    if 2 * len(value) > limit:  # each element takes a character and a comma or bracket
        raise _too_large()
    size = 1 + max(1, len(value))
    for index, element in enumerate(value):
        try:
            size += json_size(element, limit - size, depth - 1)
        except InvalidInputError as error:
            raise _placed(error, index) from None
    return size


def _placed(error: InvalidInputError, name: str | int) -> InvalidInputError:
    """The same error, its pointer longer by the name of the part that it was found in."""
    if error.reason == "NOT_JSON":
        error.field = pointer_token(name) + error.field
    return error


def _check_depth(depth: int) -> None:
    if depth <= 0:
        raise _not_json(f"it is nested more than {MAX_DEPTH} deep, or contains itself")


def _too_large() -> InvalidInputError:
    return InvalidInputError("the value is larger than its limit", reason="TOO_LARGE")


def _not_json(message: str) -> InvalidInputError:
    return InvalidInputError(message, reason="NOT_JSON")
