"""Tables in text files.

A table is a CSV file (with commas, semicolons, tabs or bars), a JSON list of objects, or plain lines: the
columns of plain lines are `text` and `number`, the last number of the line. In other texts and data files it is what is drawn with bars, a
series of records, or lines of one form.
"""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, time
from itertools import groupby
from typing import Final

from aeond.capabilities.tools.calculator.numerals import NUMERAL, first_number
from aeond.capabilities.tools.tables.alike_lines import alike_lines
from aeond.capabilities.tools.tables.records import PARSERS, Record, records_in
from aeond.domain.values import storable
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_ROWS: Final = 100_000
MAX_COLUMNS: Final = 200
_MAX_ALIKE: Final = 5_000  # lines whose forms are compared: a tenth of a second
_ALIKE_CHARS: Final = 100  # of them, on average
MAX_SHOWN_COLUMNS: Final = 30
_DELIMITERS: Final = (",", ";", "\t", "|")
_YEAR: Final = re.compile(r"19\d\d|20\d\d|2100", re.ASCII)
_MIN_ROWS: Final = 3  # of a text that is a table by its separators
_MIN_DRAWN: Final = 4  # lines: a header, a ruler, and two rows
_LIST_NUMBER: Final = re.compile(r"^\s*\d+[.)]\s+")


@frozen
class Table:
    """Rows of cells, each as long as `columns`. Lines that have no columns are `plain`; `around` is what else the text says, `whole` a short
    text that is no table itself."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    plain: bool = False
    around: str = ""
    whole: str = ""


def read_table(text: str) -> Table:
    """The table in the text of a file. Raises ToolError (TABLE_EMPTY, TABLE_TOO_LARGE)."""
    text, lines = _lines_of(text)
    return _objects(text) or _delimited(text, delimiter_of(lines)) or _plain(lines)


def table_within(text: str, ending: str) -> Table:
    """The table in the text of a file with this ending that may hold more than that. Raises as `read_table`."""
    text, lines = _lines_of(text)
    if ending in PARSERS:
        found = _objects(text) or _of_records(*records_in(text, ending))
    else:
        found = _objects(text) or _drawn(lines) or _delimited(text, _delimiter_in(lines)) or _alike(lines)
    return found or _plain(lines)


def _lines_of(text: str) -> tuple[str, Sequence[str]]:
    """The text, and its lines that are not empty."""
    text = text.lstrip("\ufeff")
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ToolError("the file is empty", reason="TABLE_EMPTY", field="path")
    if len(lines) > MAX_ROWS:
        raise ToolError(f"the file has more than {MAX_ROWS} lines", reason="TABLE_TOO_LARGE", field="path")
    return text, lines


def delimiter_of(lines: Sequence[str]) -> str:
    """What separates the cells of these lines; empty for plain lines."""
    for delimiter in _DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(lines[:200], delimiter=delimiter)]
        except csv.Error:  # a cell is too long, as behind a quotation mark that is never closed
            continue
        usual = max(set(widths), key=widths.count, default=1)
        if usual > 1 and widths[0] == usual and widths.count(usual) >= 0.8 * len(widths):
            return delimiter
    return ""


def _delimiter_in(lines: Sequence[str]) -> str:
    """What separates the cells of lines in a text; "" where it only divides sentences."""
    delimiter = delimiter_of(lines)
    has_header = not any(map(str.isdigit, lines[0]))  # and its commas are none of numbers
    divides = any(f"{delimiter} " in line for line in lines)
    return delimiter if len(lines) >= _MIN_ROWS and has_header and not divides else ""


def _objects(text: str) -> Table | None:
    """A JSON list of objects."""
    if not text.lstrip().startswith("["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not found or not all(isinstance(row, dict) for row in found):
        return None
    return table_of_records(found) if any(found) and len(found) <= MAX_ROWS else None


def _of_records(records: Sequence[Record], around: str) -> Table | None:
    return replace(table_of_records(records), around=around) if 0 < len(records) <= MAX_ROWS else None


def table_of_records(records: Sequence[Record]) -> Table:
    """The values of the records below their names; at most MAX_COLUMNS of these."""
    columns = tuple(dict.fromkeys(name for row in records for name in row))[:MAX_COLUMNS]
    rows = tuple(tuple(_cell(row.get(name)) for name in columns) for row in records)
    return Table(tuple(map(storable, columns)), rows)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, date | time):
        return str(value)
    return storable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def _drawn(lines: Sequence[str]) -> Table | None:
    """The longest table that is drawn with bars between lines of another kind."""
    runs = [(drawn, list(run)) for drawn, run in groupby(lines, lambda line: line.lstrip().startswith("|"))]
    longest = max((run for drawn, run in runs if drawn), key=len, default=[])
    table = _delimited("\n".join(longest), "|") if len(longest) >= _MIN_DRAWN else None
    others = (line for drawn, run in runs for line in run if not drawn or run is not longest)
    return replace(table, around="\n".join(others)) if table is not None else None


def _alike(lines: Sequence[str]) -> Table | None:
    is_short = len(lines) <= _MAX_ALIKE and sum(map(len, lines)) <= _MAX_ALIKE * _ALIKE_CHARS
    found = alike_lines(lines) if is_short else None
    return Table(found.columns, found.rows, around="\n".join(found.others)) if found is not None else None


def _delimited(text: str, delimiter: str) -> Table | None:
    if not delimiter:
        return None
    written = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)  # cells keep their line breaks
    try:
        rows = [cells for row in written if any(cells := [cell.strip() for cell in row])]
    except csv.Error:
        return None
    if delimiter == "|":  # the bars of Markdown stand at both ends too, and a ruler below the header
        rows = [row[1 if row[0] == "" else 0 : -1 if row[-1] == "" else len(row)] for row in rows]
        rows = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    if not rows:
        return None
    width = len(rows[0])
    if _is_header(rows[0], rows[1:]):
        header, rows = [" ".join(cell.splitlines()) for cell in rows[0]], rows[1:]
    else:
        header = [str(number) for number in range(1, width + 1)]
    padded = (tuple((row + [""] * width)[:width]) for row in rows)
    return Table(tuple(header[:MAX_COLUMNS]), tuple(row[:MAX_COLUMNS] for row in padded))


def _is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns, and is no data."""
    years = [cell for cell in first if _YEAR.fullmatch(cell)]
    return (
        all(first)
        and len(set(years)) == len(years)
        and all(
            _is_name(cell, [row[column] for row in below if row[column : column + 1] not in ([], [""])])
            for column, cell in enumerate(first)
            if first_number(cell) is not None
        )
    )


def _is_name(cell: str, below: Sequence[str]) -> bool:
    """Whether a cell with a number names its column: a year above other cells than years, or words that no cell below has.

    So "Rent (12 months)" is a name, and "3 m" above "5 m" is none.
    """
    if _YEAR.fullmatch(cell):
        return 2 * sum(bool(_YEAR.fullmatch(other)) for other in below) < len(below)
    words = NUMERAL.sub("", cell)
    return any(map(str.isalpha, words)) and all(NUMERAL.sub("", other) != words for other in below)


def _plain(lines: Sequence[str]) -> Table:
    rows = []
    for line in lines:
        numbers = NUMERAL.findall(_LIST_NUMBER.sub("", line))
        rows.append((line.strip(), numbers[-1] if numbers else ""))
    return Table(("text", "number"), tuple(rows), plain=True)
