"""Formats that an edit keeps: what was valid JSON, TOML or INI stays valid, and a table its columns."""

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from aeond.capabilities.tools.files.table_rows import odd_row
from aeond.errors import ToolError

_BEHIND_HEADER: Final = re.compile(
    r"^\[[^\]\n]*\][ \t]*[^\s#;].*", re.MULTILINE
)  # which is read as a part of the name


def _read_json(text: str) -> None:
    """Raises ValueError for no JSON, and for an object with the same name twice."""

    def once(members: Sequence[tuple[str, object]]) -> None:
        names = [name for name, _ in members]
        if len({*names}) < len(names):
            raise ValueError(f"a name stands twice in one object: {max(names, key=names.count)!r:.100}")

    json.loads(text, object_pairs_hook=once)


def _read_ini(text: str) -> None:
    """Raises ValueError for lines that no settings of sections can have."""
    try:
        configparser.RawConfigParser().read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    if (lost := _BEHIND_HEADER.search(text)) is not None:
        raise ValueError(f"nothing can stand behind the name of a section: {lost[0]!r:.100}")


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    ".json": _read_json,
    ".toml": tomllib.loads,
    ".ini": _read_ini,
}


def is_valid(text: str, path: str) -> bool:
    """Whether the file, by its name of a format that can be read here, is a valid document."""
    reader = _reader_of(path)
    return reader is not None and not _problem(reader, text)


def breaks(before: str, after: str, path: str) -> bool:
    """Whether a document was valid before, and is not after."""
    return is_valid(before, path) and not is_valid(after, path)


def keep_format(before: str, after: str, path: str) -> None:
    """Raises ToolError (FORMAT_BROKEN) where the edit breaks what was valid: JSON, TOML, INI, or a table all of whose lines
    have as many fields as its header."""
    reader = _reader_of(path)
    if reader is not None and not _problem(reader, before):
        problem = _problem(reader, after)
    else:
        problem = odd_row(before, after, path)
    if problem:
        raise ToolError(f"{path!r:.200} would be broken: {problem:.300}", reason="FORMAT_BROKEN")


def _problem(reader: Callable[[str], Any], text: str) -> str:
    """Why the text cannot be read; "" if it can."""
    try:
        reader(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return str(error) or "it is nested too deeply"
    return ""


def _reader_of(path: str) -> Callable[[str], Any] | None:
    return _READERS.get(PurePosixPath(path).suffix.lower())
