"""Queries over a table: the rows to use, their order and columns, and a total over them or over each group."""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from statistics import median
from typing import Final

from aeond.capabilities.tools.calculator.numerals import first_number
from aeond.capabilities.tools.tables.reading import Table
from aeond.domain.names import Match, best, folded, same_form
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_GROUPS: Final = 50

_TOTAL: Final = re.compile(r"\s*(?P<name>[a-z]+)\b\s*\(?\s*(?P<column>.*?)\s*\)?\s*", re.IGNORECASE)
_SORT: Final = re.compile(
    r"\s*(?P<minus>-?)\s*(?P<column>.+?)(?:\s+(?:(?P<down>desc)|asc)\w*)?\s*", re.IGNORECASE
)
_CONDITION: Final = re.compile(
    r"\s*(?P<column>.+?)\s*(?P<sign><=|>=|!=|<>|==|=|<|>|\bcontains\b)\s*(?P<value>.*)"
)
_JOINED: Final = re.compile(r"\s+and\s+|\s*[&;]+\s*", re.IGNORECASE)

Row = tuple[str, ...]


class Operation(StrEnum):
    SUM = "sum"
    MEAN = "avg"
    MEDIAN = "median"
    MIN = "min"
    MAX = "max"
    COUNT = "count"


_COMPUTED: Final = (Operation.SUM, Operation.MEAN, Operation.MEDIAN)
_OPERATIONS: Final[Mapping[str, Operation]] = {
    **{operation.value: operation for operation in Operation},
    "average": Operation.MEAN,
    "mean": Operation.MEAN,
}


@frozen
class Query:
    """A question to a table, as text: conditions, column names, a column to sort by (`-fee` and `fee desc` for the
    largest first), a total such as `sum fee`, and a column to group by."""

    where: str = ""
    columns: str = ""
    sort: str = ""
    total: str = ""
    by: str = ""


@frozen
class Found:
    """The answer: a value with the row it stands in, or rows of cells below their columns. `rows_used` of the
    table's rows went into it."""

    value: Fraction | str | None = None
    row: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Fraction | str, ...], ...] = ()
    rows_used: int = 0
    note: str = ""


def answer(table: Table, query: Query) -> Found:
    """The result of the query.

    Raises ToolError (COLUMN_NOT_FOUND, COLUMN_AMBIGUOUS, COLUMN_MISSING, CONDITION_INVALID, GROUPS_TOO_MANY) with the
    argument at fault in `field`.
    """
    rows, note = chosen_rows(table, query.where)
    if query.total or query.by:
        operation, column = _total(query.total)
        place = _place(table, operation, column)
        if query.by:
            return _by_groups(table, query, operation, place, rows, note)
        return _computed(table, operation, place, rows, note)
    names = [name.strip() for name in query.columns.split(",") if name.strip() not in ("", "*")]
    places = [table.column(name, "columns") for name in names] or list(
        range(1 if table.plain else len(table.columns))
    )
    cells = tuple(tuple(row[place] for place in places) for row in _ordered(table, rows, query.sort))
    return Found(
        columns=tuple(table.columns[place] for place in places), rows=cells, rows_used=len(rows), note=note
    )


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


def _total(total: str) -> tuple[Operation, str]:
    """The operation and the name of its column; a column alone is added up."""
    found = _TOTAL.fullmatch(total or Operation.COUNT)
    operation = _OPERATIONS.get(found["name"].casefold()) if found else None
    if found is None or operation is None:
        return Operation.SUM, total.strip()
    return operation, "" if found["column"] == "*" else found["column"]


def _ordered(table: Table, rows: Sequence[Row], sort: str) -> Sequence[Row]:
    """The rows sorted by a column; empty cells come last in both directions."""
    name, down = _direction(sort)
    if not name:
        return rows
    place = table.column(name, "sort")
    full = sorted((row for row in rows if row[place]), key=lambda row: _order(row[place]), reverse=down)
    return [*full, *(row for row in rows if not row[place])]


def _direction(sort: str) -> tuple[str, bool]:
    found = _SORT.fullmatch(sort)
    return (found["column"], bool(found["minus"] or found["down"])) if found else ("", False)


def _by_groups(
    table: Table, query: Query, operation: Operation, place: int, rows: Sequence[Row], note: str
) -> Found:
    by = table.column(query.by, "by")
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
        found = _computed(table, operation, place, members, "").value
        values.append((name, "" if found is None else found))
    name, down = _direction(query.sort)
    if name:
        by_group = best(name, (table.columns[by],), Match.PART) != ()
        values.sort(key=lambda value: _order(str(value[0 if by_group else 1])), reverse=down)
    total = operation if operation is Operation.COUNT else f"{operation} {table.columns[place]}"
    return Found(columns=(table.columns[by], total), rows=tuple(values), rows_used=len(rows), note=note)


def _computed(table: Table, operation: Operation, place: int, rows: Sequence[Row], note: str) -> Found:
    if operation is Operation.COUNT:
        return Found(value=Fraction(len(rows)), rows_used=len(rows), note=note)
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
    if operation is Operation.COUNT:
        return 0
    if column:
        return table.column(column, "total")
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
        f"name the column, such as {operation} {table.columns[-1]}; the columns are {', '.join(table.columns[:30])}",
        reason="COLUMN_MISSING",
        field="total",
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
