"""Records in data files that are no tables: objects of the same kind in a list or below their names, in JSON, TOML and INI."""

import configparser
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

NAME: Final = "name"  # the column of what records stand below, if they have none of that name
_MIN_RECORDS: Final = 2
_MAX_DEPTH: Final = 3

Record = Mapping[str, object]


def records_in(text: str) -> tuple[Sequence[Record], str] | None:
    """The longest series of records in the text of a data file, none if it has none, with the single values that stand above all; None for
    another text."""
    for parse in _PARSERS:
        try:
            found = parse(text)
        except (ValueError, configparser.Error, RecursionError):
            continue
        longest = max(_series(found, _MAX_DEPTH), key=len, default=())
        above = found.items() if isinstance(found, Mapping) else ()
        return longest, "\n".join(
            f"{name}: {value}" for name, value in above if isinstance(value, str | int | float)
        )
    return None


def _sections(text: str) -> object:
    parser = configparser.RawConfigParser(strict=False, default_section="")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as the module documents it
    parser.read_string(text)
    return {name: dict(parser.items(name)) for name in parser.sections()}


_PARSERS: Final[Sequence[Callable[[str], object]]] = (json.loads, tomllib.loads, _sections)


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
