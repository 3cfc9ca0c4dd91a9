"""Records in data files that are no tables: objects of the same kind in a list or below their names, in JSON, TOML and INI."""

import configparser
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aeond.domain.values import storable

NAME: Final = "name"  # the column of what records stand below, if they have none of that name
MAX_SETTINGS_CHARS: Final = 64 << 10
MAX_LINE_CHARS: Final = 1_000
_JSON: Final = ".json"
_MIN_RECORDS: Final = 2
_MAX_DEPTH: Final = 3

Record = Mapping[str, object]


def records_in(text: str, ending: str) -> tuple[Sequence[Record], str]:
    """The longest of the outermost series of records in the text of a file with one of the endings of PARSERS, and the single values above
    all; no records if the file has none or cannot be read. TOML and INI files are read up to MAX_SETTINGS_CHARS, with lines up to
    MAX_LINE_CHARS: their parsers take time by the square of the length."""
    parse = PARSERS[ending]
    if ending != _JSON and not _is_small(text):
        return (), ""
    try:
        found = parse(text)
    except (ValueError, configparser.Error, RecursionError):
        return (), ""
    longest = max(_series(found), key=len, default=())
    above = found.items() if isinstance(found, Mapping) else ()
    lines = [f"{name}: {value}" for name, value in above if not isinstance(value, Mapping | list)]
    return longest, storable("\n".join(lines))


def _is_small(text: str) -> bool:
    return len(text) <= MAX_SETTINGS_CHARS and max(map(len, text.splitlines()), default=0) <= MAX_LINE_CHARS


def _sections(text: str) -> object:
    parser = configparser.RawConfigParser(strict=False, default_section="")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as the module documents it
    parser.read_string(text)
    return {name: dict(parser.items(name)) for name in parser.sections()}


PARSERS: Final[Mapping[str, Callable[[str], object]]] = {
    _JSON: json.loads,
    ".toml": tomllib.loads,
    ".ini": _sections,
    ".cfg": _sections,
    ".conf": _sections,
}
"""How data files are read, by the endings of their names."""


def _series(value: object) -> Sequence[Sequence[Record]]:
    """The series of records that lie least deep in the value: those within the records of another one are a part of them."""
    values = [value]
    for _ in range(_MAX_DEPTH + 1):
        found = [series for one in values if (series := _records_of(one))]
        if found:
            return found
        values = [inner for one in values for inner in _below(one)]
    return ()


def _records_of(value: object) -> Sequence[Record]:
    if isinstance(value, Mapping) and _are_records([*value.values()]):
        return [{NAME: key} | one for key, one in value.items()]
    return value if isinstance(value, list) and _are_records(value) else ()


def _below(value: object) -> Sequence[object]:
    if isinstance(value, Mapping):
        return [*value.values()]
    return value if isinstance(value, list) else ()


def _are_records(values: Sequence[object]) -> bool:
    """Whether the values are objects, of which each has a member in common with the first."""
    objects = [one for one in values if isinstance(one, Mapping) and one]
    return len(objects) == len(values) >= _MIN_RECORDS and all(
        one.keys() & objects[0].keys() for one in objects
    )
