"""JSON values in their wire format, which is text.

Text and not google.protobuf.Value: integers stay exact at any size, no conversion happens where it is not
needed, and the size of client data can be limited before it is parsed.
"""

import json
from collections.abc import Mapping

from pydantic_core import from_json

from aeond.domain.values import NO_ARGUMENTS, JsonObject, JsonValue, compact_json, is_unicode
from aeond.errors import InvalidInputError

MAX_JSON_BYTES = 1 << 20

_compact_ascii = json.JSONEncoder(separators=(",", ":")).encode
_finite = json.JSONEncoder(allow_nan=False).encode


def json_text(value: JsonValue) -> str:
    """A value as compact JSON text, keys in their own order. Never fails: a lone surrogate is escaped."""
    text = compact_json(value)
    return text if is_unicode(text) else _compact_ascii(value)


def plain_text(text: str) -> str:
    """The text in a form that the wire supports: each lone surrogate becomes a question mark."""
    return text if is_unicode(text) else text.encode("utf-8", "replace").decode()


def json_value(text: str, field: str, max_bytes: int = MAX_JSON_BYTES) -> JsonValue:
    """Parses JSON text. `field` is its path in the request.

    InvalidInputError (reason INVALID_JSON) for anything that is not strict JSON: NaN and infinities, numbers
    beyond a double, lone surrogates, more than about 200 levels; DUPLICATE_KEY for an object that has a key twice,
    whose value depends on the reader; TOO_LONG above `max_bytes`.
    """
    if len(text) > max_bytes or len(encoded := text.encode()) > max_bytes:
        raise InvalidInputError(
            f"{field} may have at most {max_bytes} bytes of JSON.", reason="TOO_LONG", field=field
        )
    try:
        value: JsonValue = from_json(encoded, allow_inf_nan=False)
        if isinstance(value, str):
            return value  # a text has no numbers and no keys, and may be long
        _finite(value)  # the parser converts 1e999 to infinity
        twice = _key_given_twice(text) if '"' in text else None  # the parser keeps the last value
    except ValueError as error:
        raise InvalidInputError(
            f"{field} is not valid JSON: {str(error).rstrip('.')}.", reason="INVALID_JSON", field=field
        ) from None
    if twice is not None:
        raise InvalidInputError(
            f"{field} has the key {twice!r:.80} twice in one object: send each key once.",
            reason="DUPLICATE_KEY",
            field=field,
        )
    return value


def json_object(text: str, field: str, max_bytes: int = MAX_JSON_BYTES) -> JsonObject:
    """Like `json_value`, for an object; empty text is an empty object. Otherwise reason NOT_AN_OBJECT."""
    if not text:
        return NO_ARGUMENTS
    value = json_value(text, field, max_bytes)
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{field} must be a JSON object.", reason="NOT_AN_OBJECT", field=field)
    return value


def _key_given_twice(text: str) -> str | None:
    """A key that an object of this valid JSON text has more than once; None if there is none."""
    found: list[str] = []

    def look(pairs: list[tuple[str, object]]) -> None:
        keys = {key for key, _ in pairs}
        if len(keys) < len(pairs) and not found:
            found.extend(key for key, _ in pairs)

    json.loads(text, object_pairs_hook=look)
    return next((key for key in found if found.count(key) > 1), None)
