"""Records in data files that are no tables: objects of the same kind in a list or below their names, in JSON, TOML and INI."""

import configparser
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

NAME: Final = "name"  # the column of what records stand below, if they have none of that name
MAX_SETTINGS_CHARS: Final = 64 << 10
MAX_LINE_CHARS: Final = 1_000
_MIN_RECORDS: Final = 2
_MAX_DEPTH: Final = 3

Record = Mapping[str, object]


def records_in(text: str, ending: str) -> tuple[Sequence[Record], str]:
    """The longest series of records in the text of a file with this ending, with the single values that stand above all; no records if the file
    has none or cannot be read. Of TOML and INI files only those of MAX_SETTINGS_CHARS with lines of MAX_LINE_CHARS are read: some take
    time by the square of their length."""
    parse: Callable[[str], object] = PARSERS.get(ending, json.loads)
    if parse is not json.loads and not _is_small(text):
        return (), ""
    try:
        found = parse(text)
    except (ValueError, configparser.Error, RecursionError):
        return (), ""
    longest = max(_series(found, _MAX_DEPTH), key=len, default=())
    above = found.items() if isinstance(found, Mapping) else ()
    return longest, "\n".join(
        f"{name}: {value}" for name, value in above if not isinstance(value, Mapping | list)
    )


def _is_small(text: str) -> bool:
    return len(text) <= MAX_SETTINGS_CHARS and max(map(len, text.splitlines()), default=0) <= MAX_LINE_CHARS


def _sections(text: str) -> object:
    parser = configparser.RawConfigParser(strict=False, default_section="")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as the module documents it
    parser.read_string(text)
    return {name: dict(parser.items(name)) for name in parser.sections()}


PARSERS: Final[Mapping[str, Callable[[str], object]]] = {
    ".json": json.loads,
    ".toml": tomllib.loads,
    ".ini": _sections,
    ".cfg": _sections,
    ".conf": _sections,
}
"""How data files are read, by the endings of their names."""


def _series(value: object, depth: int) -> Iterator[Sequence[Record]]:
    """Each series of records in the value, itself included."""
    if isinstance(value, Mapping):
        below = list(value.values())
        if _are_records(below):
            yield [{NAME: key} | one for key, one in value.items()]
    elif isinstance(value, list):
        below = value
        if _are_records(value):
            yield value
    else:
        return
    if depth:
        for one in below:
            yield from _series(one, depth - 1)


def _are_records(values: Sequence[object]) -> bool:
    """Whether the values are objects, of which each has a member in common with the first."""
    objects = [one for one in values if isinstance(one, Mapping) and one]
    return len(objects) == len(values) >= _MIN_RECORDS and all(
        one.keys() & objects[0].keys() for one in objects
    )
