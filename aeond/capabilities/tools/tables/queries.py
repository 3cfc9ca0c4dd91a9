"""What can be asked of a table: which rows, and what to make of them."""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from fractions import Fraction
from statistics import median
from typing import Final

from aeond.capabilities.tools.tables.numerals import first_number
from aeond.capabilities.tools.tables.reading import Table
from aeond.domain.names import folded, same_form
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_GROUPS: Final = 50

_CONDITION: Final = re.compile(
    r"\s*(?P<column>.+?)\s*(?P<sign><=|>=|!=|<>|==|=|<|>|\bcontains\b)\s*(?P<value>.*)"
)
_JOINED: Final = re.compile(r"\s+and\s+|\s*[&;]+\s*", re.IGNORECASE)

Row = tuple[str, ...]


class Operation(StrEnum):
    SUM = "sum"
    MEAN = "mean"
    MEDIAN = "median"
    MIN = "min"
    MAX = "max"
    COUNT = "count"
    LIST = "list"
    ASCENDING = "ascending"
    DESCENDING = "descending"


_COMPUTED: Final = (Operation.SUM, Operation.MEAN, Operation.MEDIAN)


@frozen
class Found:
    """What a query gives: a value with the row it stands in, a value for each group, or rows."""

    value: Fraction | str | None = None
    row: str = ""
    groups: tuple[tuple[str, Fraction | str], ...] = ()
    lines: tuple[str, ...] = ()
    rows_used: int = 0
    note: str = ""


def chosen_rows(table: Table, where: str) -> tuple[tuple[Row, ...], str]:
    """The rows that satisfy every condition, and a note with the values of a column in which none does.

    Raises ToolError (CONDITION_INVALID, COLUMN_NOT_FOUND).
    """
    rows: tuple[Row, ...] = table.rows
    for condition in _conditions(where):
        column = table.column(condition["column"], "where")
        holds = _test(condition["sign"], condition["value"])
        kept = tuple(row for row in rows if holds(row[column]))
        if rows and not kept:
            values = ", ".join(dict.fromkeys(row[column] for row in rows))
            return (), f"no row fits; {table.columns[column]} holds {values:.200}"
        rows = kept
    return rows, ""


def answer(table: Table, operation: Operation, column: str, where: str, by: str) -> Found:
    """The result of the operation over the chosen rows. Raises ToolError as `chosen_rows` does."""
    rows, note = chosen_rows(table, where)
    if operation is Operation.LIST and not by:
        place = table.column(column) if column else None
        lines = tuple(table.shown(row) if place is None else row[place] for row in rows)
        return Found(lines=lines, rows_used=len(rows), note=note)
    if operation is Operation.COUNT and not by:
        return Found(value=Fraction(len(rows)), rows_used=len(rows), note=note)
    place = _place(table, operation, column)
    if operation in (Operation.ASCENDING, Operation.DESCENDING, Operation.LIST):
        full = [row for row in rows if row[place]]
        full.sort(key=lambda row: _order(row[place]), reverse=operation is Operation.DESCENDING)
        ordered = [*full, *(row for row in rows if not row[place])]
        return Found(lines=tuple(map(table.shown, ordered)), rows_used=len(rows), note=note)
    if by:
        return _by_groups(table, operation, place, rows, table.column(by, "by"), note)
    return _computed(table, operation, place, rows, note)


def _by_groups(
    table: Table, operation: Operation, place: int, rows: Sequence[Row], by: int, note: str
) -> Found:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[by], []).append(row)
    if len(groups) > MAX_GROUPS:
        raise ToolError(
            f"{table.columns[by]} has {len(groups)} values, at most {MAX_GROUPS} groups are made",
            reason="GROUPS_TOO_MANY",
            field="by",
        )
    values: list[tuple[str, Fraction | str]] = []
    for name, members in groups.items():
        found = (
            Fraction(len(members))
            if operation is Operation.COUNT
            else _computed(table, operation, place, members, "").value
        )
        values.append((name, Fraction(0) if found is None else found))
    return Found(groups=tuple(values), rows_used=len(rows), note=note)


def _computed(table: Table, operation: Operation, place: int, rows: Sequence[Row], note: str) -> Found:
    if operation in _COMPUTED:
        read = [first_number(row[place]) for row in rows]
        numbers = [number for number in read if number is not None]
        if len(numbers) < len(rows):
            note = f"{len(rows) - len(numbers)} of {len(rows)} rows have no number in {table.columns[place]}"
        return Found(_number(operation, numbers), rows_used=len(numbers), note=note)
    full = [row for row in rows if row[place]]
    if not full:
        return Found(rows_used=0, note=note)
    pick = max if operation is Operation.MAX else min
    row = pick(full, key=lambda row: _order(row[place]))
    number = first_number(row[place])
    return Found(row[place] if number is None else number, table.shown(row), rows_used=len(full), note=note)


def _number(operation: Operation, numbers: Sequence[Fraction]) -> Fraction | None:
    if operation is Operation.SUM:
        return sum(numbers, Fraction(0))
    if not numbers:
        return None
    return sum(numbers, Fraction(0)) / len(numbers) if operation is Operation.MEAN else median(numbers)


def _place(table: Table, operation: Operation, column: str) -> int:
    """The column to compute with; the only one with numbers where none is named."""
    if column:
        return table.column(column)
    if operation is Operation.COUNT:
        return 0
    if table.plain:
        return 1
    numeric = [
        place
        for place in range(len(table.columns))
        if sum(first_number(row[place]) is not None for row in table.rows) * 2 > len(table.rows)
    ]
    if len(numeric) == 1:
        return numeric[0]
    raise ToolError(
        f"name the column: {', '.join(table.columns[:30])}",
        reason="COLUMN_MISSING",
        field="column",
        candidates=table.columns[:30],
    )


def _conditions(where: str) -> Sequence[re.Match[str]]:
    if not where.strip():
        return ()
    parts = [_CONDITION.fullmatch(part) for part in _JOINED.split(where.strip())]
    if None in parts:
        parts = [_CONDITION.fullmatch(where)]  # the joining word stands in the value
    found = [part for part in parts if part is not None]
    if not found:
        raise ToolError(
            f"{where!r:.80} is not a condition: write column = value, or with !=, <, >, <=, >=, contains",
            reason="CONDITION_INVALID",
            field="where",
        )
    return found


def _test(sign: str, value: str) -> Callable[[str], bool]:
    value = value.strip().strip("\"'")
    if sign == "contains":
        return lambda cell: folded(value) in folded(cell)
    if sign in ("=", "=="):
        return lambda cell: _equal(cell, value)
    if sign in ("!=", "<>"):
        return lambda cell: not _equal(cell, value)
    bound = _order(value)
    if sign in ("<", "<="):
        return lambda cell: cell != "" and (_order(cell) < bound or (sign == "<=" and _order(cell) == bound))
    return lambda cell: cell != "" and (_order(cell) > bound or (sign == ">=" and _order(cell) == bound))


def _equal(cell: str, value: str) -> bool:
    if _is_number(cell) and _is_number(value):
        return first_number(cell) == first_number(value)
    return cell == value or same_form(cell, value)


def _is_number(text: str) -> bool:
    return not any(character.isalpha() for character in text) and first_number(text) is not None


def _order(cell: str) -> tuple[int, Fraction, str]:
    """Numbers by their value, before texts in alphabetical order; dates are texts in that order."""
    number = first_number(cell)
    return (0, number, "") if number is not None else (1, Fraction(0), folded(cell))
