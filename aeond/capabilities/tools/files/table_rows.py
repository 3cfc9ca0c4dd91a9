"""Rows of tables in text files: the form of a new one, and whether all fit their header."""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

_PLAIN_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_MEASURED: Final = re.compile(r"(-?\d+(?:\.\d+)?)\s+([^\W\d_]{3,12})")
_UNIT_CHARS: Final = 3  # in which a unit and the name of its column agree: euros, price_eur
_MIN_ROWS: Final = 3  # the header, and rows that show what a column holds
_DELIMITERS: Final[Mapping[str, str]] = {".csv": ",;\t", ".tsv": "\t"}


def as_rows(text: str, addition: str, path: str) -> str:
    """Rows of a table in the form of its rows: without spaces around the cells, and, in a column of plain numbers, without the
    unit that the name of the column says."""
    for delimiter in _delimiters(path):
        rows = _rows(text, delimiter)
        widths = set(map(len, rows))
        if len(rows) < _MIN_ROWS or len(widths) != 1 or widths == {1} or '"' in text + addition:
            continue
        if any(cell != cell.strip() for row in rows for cell in row):
            return addition
        added = [line.split(delimiter) for line in addition.rstrip("\r\n").splitlines()]
        if {*map(len, added)} != widths:
            return addition
        units = [
            name.casefold() if all(map(_PLAIN_NUMBER.fullmatch, column)) else ""
            for name, *column in zip(*rows, strict=True)
        ]
        return "\n".join(
            delimiter.join(_without_unit(cell.strip(), unit) for cell, unit in zip(cells, units, strict=True))
            for cells in added
        )
    return addition


def _without_unit(cell: str, column: str) -> str:
    measured = _MEASURED.fullmatch(cell)
    return measured[1] if measured and measured[2][:_UNIT_CHARS].casefold() in column else cell


def odd_row(before: str, after: str, path: str) -> str:
    """The first new line whose number of fields differs from that of the unchanged header, with both numbers."""
    header = before.partition("\n")[0]
    if header != after.partition("\n")[0]:
        return ""
    for delimiter in _delimiters(path):
        widths = set(map(len, _rows(before, delimiter)))
        if len(widths) != 1 or widths == {1}:
            continue
        (width,) = widths
        odd = next((row for row in _rows(after, delimiter) if len(row) != width), None)
        if odd is None:
            return ""
        return (
            f"a line has {len(odd)} fields, its header {width} ({header.strip()}): {delimiter.join(odd):.100}"
        )
    return ""


def _rows(text: str, delimiter: str) -> Sequence[Sequence[str]]:
    """The rows of the table; none if it has a field that is too long to read."""
    try:
        return [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]
    except csv.Error:
        return ()


def _delimiters(path: str) -> str:
    return _DELIMITERS.get(PurePosixPath(path).suffix.lower(), "")
