"""Statements over tables, in a SQLite database of its own in memory."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from functools import cache
from pathlib import PurePosixPath
from typing import Final

import apsw

from aeond.capabilities.tools.calculator.numerals import first_number
from aeond.capabilities.tools.tables.cells import Cell, cells_of
from aeond.capabilities.tools.tables.reading import MAX_SHOWN_COLUMNS, Table
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_ROWS_READ: Final = 1_000
MAX_RESULT_BYTES: Final = 4 << 20
MAX_VALUE_BYTES: Final = 256 << 10
MAX_MEMORY_BYTES: Final = 128 << 20  # of SQLite, beyond what it had: sorts and joins are made in memory
MAX_STEPS: Final = 50_000_000  # of SQLite's machine: some seconds
_STEPS: Final = 1_000  # between two looks at their number and the memory
_ALLOWED: Final = (apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION)
_CHANGING: Final = (apsw.SQLITE_UPDATE, apsw.SQLITE_INSERT, apsw.SQLITE_DELETE)
# As SQLite calls the number of a row, unless a column has the name.
_ROW_NAMES: Final = ("rowid", "oid", "_rowid_")
_EXACT: Final = 10**15  # a whole number below is shown with all its digits
_DECIMALS: Final = 4
_MANY: Final = 8  # decimals that only a division makes
_DIGITS: Final = 12  # significant ones: the sum of 0.1 and 0.2 is shown as 0.3
_NO_WORD: Final = re.compile(r"\W+")
_QUOTED: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]""")
_LITERAL: Final = re.compile(r"'(?:[^']|'')*'")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NO_NAME: Final = "column"  # of one whose name has neither letter nor digit
# A number is found by a literal in quotes too, and a text by a number; columns of both compare as they are.
_AFFINITIES: Final = {frozenset({float}): "REAL", frozenset({str}): "TEXT"}


@frozen
class Found:
    """Rows of cells below their columns; `more` where the statement has further rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: bool = False


def table_name(path: str) -> str:
    """The name of the table in statements: that of its file without the ending."""
    name = re.sub(r"\W", "_", PurePosixPath(path).stem, flags=re.ASCII)
    name = f"{name}_" if name.casefold() in _reserved() else name
    is_free = _PLAIN_NAME.fullmatch(name) and not name.casefold().startswith("sqlite_")
    return name if is_free else f"t{name}"


def select(tables: Mapping[str, Table], statement: str, stopped: Callable[[], bool] = lambda: False) -> Found:
    """The rows of the statement over these tables, by their names; without one, all rows of the first.

    Cells that are a number compare and count as one, empty cells are NULL, and texts compare in any case. Raises ToolError
    (QUERY_INVALID) where SQLite refuses the statement, or where it is no single SELECT; (QUERY_TOO_LONG) after MAX_STEPS, or beyond
    MAX_MEMORY_BYTES. Of a result beyond MAX_RESULT_BYTES the rest is left out as that beyond MAX_ROWS_READ is.
    """
    columns = {name: column_names(table.columns) for name, table in tables.items()}
    statement = _with_plain_names(statement, *(table.columns for table in tables.values()))
    with closing(apsw.Connection(":memory:")) as database:
        for name, table in tables.items():
            _fill(database, name, columns[name], cells_of(table.rows, len(table.columns)))
        _confine(database, _authorized, stopped)
        first = _quoted(next(iter(tables)))
        try:
            found = _execute_one(database, statement or f"SELECT * FROM {first}")  # noqa: S608  # quoted
            return _first_rows(*found, {one for names in columns.values() for one in names})
        except (apsw.Error, ValueError) as error:
            raise _refused(error, tables, columns) from None


def rows_after(
    table: Table, name: str, statement: str, cells: Sequence[Sequence[Cell]], *, emptied: bool = False
) -> dict[int, tuple[Cell, ...]]:
    """The rows after an UPDATE, INSERT or DELETE over these cells of the table's columns, by their numbers from 1, new ones behind the others; if it is
    `emptied`, the cells say what the columns hold, and there are no rows. Raises ToolError (STATEMENT_INVALID) where SQLite refuses the statement, or it is
    none of these three."""
    columns = column_names(table.columns)
    statement = _with_plain_names(statement, table.columns)
    number = next((one for one in _ROW_NAMES if one not in map(str.casefold, columns)), _ROW_NAMES[-1])

    def allows(action: int, target: str | None, *_more: str | None) -> int:
        allowed = action in _ALLOWED or (action in _CHANGING and target == name)
        return apsw.SQLITE_OK if allowed else apsw.SQLITE_DENY

    with closing(apsw.Connection(":memory:")) as database:
        _fill(database, name, columns, cells)
        if emptied:
            database.execute(f"DELETE FROM {_quoted(name)}")  # noqa: S608  # quoted
        _confine(database, allows)
        try:
            _execute_one(database, statement)
        except (apsw.Error, ValueError) as error:
            raise ToolError(
                f"{_reason_of(error)}; write one UPDATE, INSERT or DELETE over the table {name}({', '.join(columns)})",
                reason="STATEMENT_INVALID",
                field="changes",
                candidates=tuple(columns),
            ) from None
        database.set_authorizer(None)
        database.set_progress_handler(None)
        found = database.execute(f"SELECT {number}, * FROM {_quoted(name)} ORDER BY {number}")  # noqa: S608  # quoted
        return {int(row[0]): tuple(row[1:]) for row in found}


class _Sum:
    """The sum of a column: 0 for rows with empty cells alone, so that it can be subtracted, and NULL without rows. A text counts as its only number."""

    def __init__(self) -> None:
        self._total = 0.0
        self._rows = 0

    def step(self, *values: object) -> None:
        self._rows += 1
        self._total += sum(map(_number, values))

    def inverse(self, *values: object) -> None:
        self._rows -= 1
        self._total -= sum(map(_number, values))

    def value(self) -> float | None:
        return self._total if self._rows else None

    def final(self) -> float | None:
        return self.value()


def _number(value: object) -> float:
    number = first_number(value) if isinstance(value, str) else value
    try:
        return float(number) if isinstance(number, int | float | Fraction) else 0.0
    except OverflowError:
        return 0.0


def _confine(
    database: apsw.Connection, authorizer: Callable[..., int], stopped: Callable[[], bool] = lambda: False
) -> None:
    """Bounds what statements do from now on: by the authorizer, in steps and memory, and in the size of a value."""
    left, before = iter(range(MAX_STEPS // _STEPS)), apsw.memory_used()

    def is_beyond() -> bool:
        is_large = apsw.memory_used() - before > MAX_MEMORY_BYTES
        return stopped() or is_large or next(left, None) is None

    database.create_window_function("sum", _Sum, 1)
    database.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    database.set_authorizer(authorizer)
    database.set_progress_handler(is_beyond, _STEPS)


def _reason_of(error: Exception) -> str:
    """What is wrong with a statement, in words."""
    return "there are several statements" if isinstance(error, apsw.ExecTraceAbort) else str(error)


def _execute_one(database: apsw.Connection, statement: str) -> tuple[apsw.Cursor, list[str]]:
    """Begins a statement; returns its rows, and the names of their columns. Raises apsw.Error where SQLite refuses it, and
    apsw.ExecTraceAbort for several ones, with none of which anything is changed."""
    names: list[str] = []  # known once the statement is about to run
    begun: list[str] = []

    def is_first(running: apsw.Cursor, text: str, _bindings: object) -> bool:
        begun.append(text)
        if len(begun) == 1:
            names.extend(str(column[0]) for column in running.get_description())
        return len(begun) == 1

    cursor = database.cursor()
    cursor.exec_trace = is_first
    cursor.execute(statement)
    return cursor, names


def _first_rows(cursor: apsw.Cursor, names: Sequence[str], stored: Collection[str]) -> Found:
    """The first rows; the columns that are stored in a table are shown as they are."""
    rows: list[tuple[str, ...]] = []
    size = 0
    for row in cursor:
        if len(rows) == MAX_ROWS_READ or size > MAX_RESULT_BYTES:
            return Found(tuple(names), tuple(rows), more=True)
        shown = (
            shown_cell(cell) if name in stored else _shown_quotient(cell)
            for name, cell in zip(names, row, strict=True)
        )
        rows.append(tuple(shown))
        size += sum(map(len, rows[-1]))
    return Found(tuple(names), tuple(rows))


def column_names(columns: Sequence[str]) -> list[str]:
    """The columns as a statement names them: without signs that would have to be quoted, for which small models write an underscore or nothing.
    Names that came before have a number, and reserved words an underscore behind them."""
    names: dict[str, None] = {}
    for column in columns:
        plain = _NO_WORD.sub("_", column).strip("_") or _NO_NAME
        plain = f"_{plain}" if plain[0].isdigit() else plain
        plain = f"{plain}_" if plain.casefold() in _reserved() else plain
        name, number, taken = plain, 2, {one.casefold() for one in names}
        while name.casefold() in taken:
            name, number = f"{plain}_{number}", number + 1
        names[name] = None
    return list(names)


def _with_plain_names(statement: str, *columns: Sequence[str]) -> str:
    """The statement with the names of the columns for what they are called in their file, wherever that is quoted and means one column."""
    declared = {name for table in columns for name in column_names(table)}
    names: dict[str, set[str]] = {}
    for table in columns:
        first = dict(
            reversed([*zip(table, column_names(table), strict=True)])
        )  # of equal names, as without quotes
        for column, name in first.items():
            names.setdefault(column, set()).add(name)

    def plain(found: re.Match[str]) -> str:
        quoted = found.group()
        if quoted[0] == "'":  # a text
            return quoted
        column = quoted[1:-1].replace('""', '"')
        meant = names.get(column, set()) if column not in declared else set()
        return f" {next(iter(meant))} " if len(meant) == 1 else quoted

    return _QUOTED.sub(plain, statement)


def without_texts(statement: str) -> str:
    """A statement without the texts in it."""
    return _LITERAL.sub("''", statement)


def as_literal(text: str) -> str:
    """A text as a statement writes it."""
    return "'" + text.replace("'", "''") + "'"


def _fill(
    database: apsw.Connection, name: str, columns: Sequence[str], read: Sequence[Sequence[Cell]]
) -> None:
    """Makes a table of columns with these cells in the database, its rows numbered from 1."""
    declared = ", ".join(map(_declared, columns, read))
    database.execute("PRAGMA temp_store = MEMORY")  # a large sort writes no file
    database.execute(f"CREATE TABLE {_quoted(name)} ({declared})")
    places = ", ".join("?" * len(columns))
    rows = zip(*read, strict=True)
    database.execute("BEGIN")
    database.executemany(f"INSERT INTO {_quoted(name)} VALUES ({places})", rows)  # noqa: S608  # quoted, values bound
    database.execute("COMMIT")


def _declared(column: str, cells: Sequence[Cell]) -> str:
    kinds = frozenset(type(cell) for cell in cells if cell is not None)
    return f"{_quoted(column)} {_AFFINITIES.get(kinds, '')} COLLATE NOCASE"


def _authorized(action: int, *_details: str | None) -> int:
    return apsw.SQLITE_OK if action in _ALLOWED else apsw.SQLITE_DENY


def _refused(
    error: Exception, tables: Mapping[str, Table], columns: Mapping[str, Sequence[str]]
) -> ToolError:
    if isinstance(error, apsw.InterruptError):
        return ToolError(
            f"the query takes more than {MAX_STEPS} steps, or too much memory",
            reason="QUERY_TOO_LONG",
            field="query",
        )
    declared = "; ".join(f"{name}({', '.join(columns[name][:MAX_SHOWN_COLUMNS])})" for name in tables)
    return ToolError(
        f"{_reason_of(error)}; write one SELECT over the table {declared}",
        reason="QUERY_INVALID",
        field="query",
        candidates=tuple(next(iter(columns.values()))[:MAX_SHOWN_COLUMNS]),
    )


def _shown_quotient(cell: Cell | bytes) -> str:
    """A computed cell as text; a quotient has no more decimals than people read."""
    shown = shown_cell(cell)
    decimals = shown.partition(".")[2]
    if not isinstance(cell, float) or len(decimals) <= _MANY or not decimals.isdigit():
        return shown
    return f"{cell:.{_DECIMALS}f}".rstrip("0") if abs(cell) >= 1 else f"{cell:.{_DECIMALS}g}"


@cache
def _reserved() -> frozenset[str]:
    """The words, in small letters, that name a column or table in quotes alone, such as "from" and "in"."""
    with closing(apsw.Connection(":memory:")) as database:

        def is_refused(word: str) -> bool:
            try:
                found = database.execute(f'SELECT {word} FROM (SELECT 1 AS "{word}")')  # noqa: S608  # a word of SQLite's own
            except apsw.SQLError:
                return True
            return found.fetchall() != [(1,)]

        return frozenset(word.casefold() for word in apsw.keywords if is_refused(word))


def shown_cell(cell: Cell | bytes) -> str:
    """The cell as text, without decimals that only rounding has made."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        whole = cell.is_integer() and abs(cell) < _EXACT
        return f"{cell:.0f}" if whole else f"{cell:.{_DIGITS}g}"
    return str(cell) if not isinstance(cell, bytes) else cell.hex()


def _quoted(name: str) -> str:
    """A name as a statement writes any of them."""
    return '"' + name.replace('"', '""') + '"'
