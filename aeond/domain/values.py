"""JSON values: the only type in which data without a class of its own crosses an interface."""

import json
from collections.abc import Callable, Mapping, Sequence

from typing_extensions import TypeAliasType

# A recursive alias that pydantic understands; `type` statements need Python 3.12.
JsonValue = TypeAliasType(
    "JsonValue",
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None",
)
JsonObject = Mapping[str, JsonValue]

NO_ARGUMENTS: JsonObject = {}


# Created once: json.dumps with options creates an encoder on every call.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_DISPLAY = json.JSONEncoder(separators=(", ", ": "), ensure_ascii=False)


def canonical_json(value: JsonValue) -> str:
    """The canonical text of a value: sorted keys, no spaces, no NaN. ValueError for NaN and infinities."""
    return _CANONICAL.encode(value)


def compact_json(value: JsonValue) -> str:
    """A value as models write it: JSON without spaces, keys in their own order."""
    return _COMPACT.encode(value)


def display_json(value: JsonValue) -> str:
    """A value for people and models: text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else _DISPLAY.encode(value)


def is_unicode(text: str) -> bool:
    """Whether the text has no half of a surrogate pair, which no encoding can write."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def mapped(
    value: JsonValue,
    on_text: Callable[[str, tuple[str | int, ...]], JsonValue],
    place: tuple[str | int, ...] = (),
) -> JsonValue:
    """The value with `on_text(text, place)` for every text in it; its place is the keys and indices that lead there. Keys stay."""
    if isinstance(value, str):
        return on_text(value, place)
    if isinstance(value, Mapping):
        return {key: mapped(item, on_text, (*place, key)) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [mapped(item, on_text, (*place, index)) for index, item in enumerate(value)]
    return value


def storable(text: str) -> str:
    """The text with a question mark for each lone surrogate, which no journal can store."""
    return text.encode("utf-8", "replace").decode()


def short_line(text: str, most: int) -> str:
    """The text on one line of at most so many characters; dots mark the cut."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."
