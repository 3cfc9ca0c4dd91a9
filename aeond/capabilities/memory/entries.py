"""What may be remembered: the rules for keys and values, the same for every store."""

import json
import re
from collections.abc import Iterable, Mapping

from pydantic_core import from_json

from aeond.domain.values import JsonValue
from aeond.errors import InvalidInputError

MAX_KEY_CHARS = 512
MAX_VALUE_BYTES = 256 << 10
MAX_VALUE_DEPTH = 100

# One search gives no more, however large the limit and the values.
MAX_FOUND = 1_000
MAX_FOUND_BYTES = 4 << 20

_WITH_PARTS = ('"', "[", "{")
_OF_NUMBERS = "0123456789+-.eE"
_ESCAPED = re.compile(r"\\.")  # in JSON text
_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN_TYPES = frozenset({bool, int, float, str, type(None)})


def check_key(key: str) -> str:
    """The key; InvalidInputError with reason EMPTY_KEY, KEY_TOO_LONG or KEY_NOT_TEXT."""
    if _SURROGATE.search(key):
        raise InvalidInputError("a key is text", reason="KEY_NOT_TEXT", field="key")
    if not key:
        raise InvalidInputError("a key has at least one character", reason="EMPTY_KEY", field="key")
    if len(key) > MAX_KEY_CHARS:
        raise InvalidInputError(
            f"a key has at most {MAX_KEY_CHARS} characters, this one {len(key)}",
            reason="KEY_TOO_LONG",
            field="key",
        )
    return key


def check_new_key(key: str) -> str:
    """As `check_key`, for a key that is written: it must not contain control characters (KEY_NOT_TEXT)."""
    if _CONTROLS.search(check_key(key)):
        raise InvalidInputError(
            "a key must not contain control characters: choose another", reason="KEY_NOT_TEXT", field="key"
        )
    return key


def encode_value(value: JsonValue) -> str:
    """The value as JSON text; InvalidInputError with reason VALUE_NOT_JSON or VALUE_TOO_LARGE."""
    _check_json(value)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise _not_json(str(error)) from error
    if size > MAX_VALUE_BYTES:
        raise InvalidInputError(
            f"a value has at most {MAX_VALUE_BYTES} bytes as JSON, this one {size}: remember less at once",
            reason="VALUE_TOO_LARGE",
            field="value",
        )
    return text


def decode_value(text: str) -> JsonValue:
    value: JsonValue = json.loads(text)
    return value


def decode_beginning(text: str, most_chars: int) -> JsonValue:
    """The value of JSON text; of a longer one what stands in so many characters: of a list its first items, of a text its
    beginning, nothing of a number."""
    if len(text) <= most_chars:
        return decode_value(text)
    cut = text[:most_chars]
    if _ESCAPED.sub("", cut).count('"') % 2 == 0:  # it does not end within a text
        cut = cut.rstrip(_OF_NUMBERS)  # the end of a number may be missing
    value: JsonValue = from_json(cut, allow_partial="trailing-strings") if cut[:1] in _WITH_PARTS else None
    return value


def check_prefix(prefix: str) -> str:
    """The prefix ("" for all keys); InvalidInputError with reason KEY_TOO_LONG or KEY_NOT_TEXT."""
    return check_key(prefix) if prefix != "" else prefix


def end_of(prefix: str) -> str | None:
    """The smallest text greater than every text that starts with the prefix; None when there is none."""
    for place in range(len(prefix) - 1, -1, -1):
        if ord(prefix[place]) < _LAST_CHARACTER:
            following = ord(prefix[place]) + 1
            return prefix[:place] + chr(_SURROGATES.stop if following in _SURROGATES else following)
    return None


def _check_json(value: JsonValue) -> None:
    """Rejects values that json.dumps would change and values that are nested too deep to read."""
    waiting: list[tuple[JsonValue, int]] = [(value, 0)]
    while waiting:
        part, depth = waiting.pop()
        if isinstance(part, Mapping):
            if not all(isinstance(name, str) for name in part):
                raise _not_json("the names in an object are text")
            children: Iterable[JsonValue] = part.values()
        elif isinstance(part, list | tuple):
            children = part
        elif part is None or isinstance(part, bool | int | float | str):
            continue
        else:
            raise _not_json(f"{type(part).__name__} is not a JSON type")
        if part and depth == MAX_VALUE_DEPTH:
            raise _not_json(f"it is nested deeper than {MAX_VALUE_DEPTH} levels")
        # Numbers and texts need no further check: a list of many numbers is not put on the stack.
        waiting.extend((child, depth + 1) for child in children if type(child) not in _PLAIN_TYPES)


def _not_json(why: str) -> InvalidInputError:
    return InvalidInputError(f"the value is not JSON: {why}", reason="VALUE_NOT_JSON", field="value")
