"""The pattern of the statements with which a small model may change a table for a request.

Without it a small model names rows that do not exist, adds a row where it is to change one, and goes on with rows that are not meant.
ADR 0121 has the measurements.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from aeond.capabilities.tools.calculator.numerals import NUMERAL
from aeond.capabilities.tools.relevance.shared_words import is_same, words_that_count
from aeond.capabilities.tools.tables.cells import column_cells
from aeond.capabilities.tools.tables.reading import MAX_SHOWN_COLUMNS, Table
from aeond.capabilities.tools.tables.statements import as_literal, column_names, table_name
from aeond.domain.names import words_to_match
from aeond.domain.values import JsonObject
from aeond.frozen import frozen
from aeond.schemas.parts import closed_object

MAX_STATEMENTS: Final = 3
MAX_VALUES: Final = 60  # of a column
MAX_PATTERN_ROWS: Final = 2_000
MAX_PATTERN_CHARS: Final = 6_000  # engines take seconds for the grammar of a longer one
_SPECIAL: Final = re.compile(r"[\^$.|?*+()\[\]{}]")
# A JSON string has to escape these, which a pattern cannot say.
UNFIT: Final = re.compile(r"[\x00-\x1f\"\\]")
NUMBER: Final = "-?[0-9]+([.][0-9]+)?"
_TEXT: Final = "'[^'\"\\\\]*'"
_LITERAL: Final = f"({_TEXT}|NULL|{NUMBER})"


@frozen
class Column:
    """A column as a statement names it, with its texts, and whether all of them are numbers."""

    name: str
    texts: tuple[str, ...]
    is_number: bool

    @property
    def is_key(self) -> bool:
        """Whether it tells the rows apart."""
        return all(self.texts) and len(set(self.texts)) == len(self.texts)


@frozen
class NamedValue:
    """A value of a column that a request names, and the rows that have it."""

    column: Column
    text: str
    rows: tuple[int, ...]


def statements_schema(table: Table, path: str, request: str) -> JsonObject:
    """The schema of a JSON list of `{"sql": STATEMENT}`.

    Rows are named by a value that exists, one that the request names if it names any; a second value tells apart the rows
    that share it. There are as many statements as the request names values, MAX_STATEMENTS at most, and none changes all rows because
    a condition was left out. Where the pattern would be too long, any value may stand in a condition. A row is added only if the request does not name one that is there by a value that tells it apart,
    and to a table with numbers only if it has a number, or names none that is there.
    """
    columns = columns_of(table)
    named = list(islice(values_named(columns, request), MAX_VALUES))
    named = [value for value in named if value.column.is_key] or named  # "Lena has paid her year": one row
    rows = [_row_of(value, columns) for value in named] if len(named) < MAX_VALUES else []
    for any_row in (_conditions(columns), list(map(_open_condition, columns))):
        if not rows or len("|".join(rows)) > MAX_PATTERN_CHARS:
            rows = [f"{one_of(any_row)}( AND {one_of(any_row)})?"] if any_row and table.rows else []
    name = table_name(path)
    kinds: list[str] = []
    if rows:
        any_column = one_of([escaped(column.name) for column in columns])
        assignment = f"{any_column} = ({_LITERAL}|{any_column} [-+*/] {NUMBER})"
        where = f"WHERE {one_of(rows)}"
        kinds += [
            f"UPDATE {name} SET {assignment}(, {assignment})* {where}",  # noqa: S608  # a pattern
            f"DELETE FROM {name} {where}",  # noqa: S608  # a pattern
        ]
    is_said = not named or bool(NUMERAL.search(request)) or not any(column.is_number for column in columns)
    if is_said and not any(value.column.is_key for value in named):
        row = ", ".join([_LITERAL] * len(table.columns))
        kinds.append(f"INSERT INTO {name} VALUES [(]{row}[)]")  # noqa: S608  # a pattern
    statement: JsonObject = {"type": "string", "pattern": f"^({'|'.join(kinds)})$"}
    change = closed_object({"sql": statement})
    most = min(MAX_STATEMENTS, max(1, len(named)))
    return {"type": "array", "minItems": 1, "maxItems": most, "items": change}


def columns_of(table: Table) -> Sequence[Column]:
    """The columns that a pattern names."""
    rows = table.rows[:MAX_PATTERN_ROWS]
    texts = [*zip(*rows, strict=True)] or [()] * len(table.columns)
    named = zip(column_names(table.columns), texts, strict=True)
    return [Column(name, column, _are_numbers(column)) for name, column in named][:MAX_SHOWN_COLUMNS]


def _are_numbers(texts: Sequence[str]) -> bool:
    cells = [cell for cell in column_cells(texts) if cell is not None]
    return bool(cells) and all(isinstance(cell, float) for cell in cells)


def values_named(columns: Sequence[Column], request: str) -> Iterator[NamedValue]:
    """The texts of which the request has a word without digits, in whatever inflection, or all words: a date that has its year in common
    with the request is not named."""
    said = words_that_count(request)
    for column in columns:
        if column.is_number:
            continue
        for text in dict.fromkeys(column.texts):
            words = words_to_match(text)
            has_word = any(is_same(word, other) for word in words for other in said)
            if not UNFIT.search(text) and (has_word or (words and set(words) <= set(said))):
                yield NamedValue(
                    column, text, tuple(at for at, one in enumerate(column.texts) if one == text)
                )


def _row_of(value: NamedValue, columns: Sequence[Column]) -> str:
    """The condition on a named value; where several rows have it, perhaps with another one that tells them apart."""
    condition = f"{escaped(value.column.name)} = {escaped(as_literal(value.text))}"
    if len(value.rows) == 1:
        return condition
    others = [
        Column(column.name, tuple(column.texts[at] for at in value.rows), column.is_number)
        for column in columns
        if column is not value.column
    ]
    more = _conditions([column for column in others if len(set(column.texts)) > 1])
    return f"{condition}( AND {one_of(more)})?" if more else condition


def _conditions(columns: Sequence[Column]) -> Sequence[str]:
    """The patterns of conditions on the columns, without those that are empty."""
    return [pattern for column in columns if (pattern := _condition(column))]


def _condition(column: Column) -> str:
    """The pattern of a condition on a column: a comparison of numbers, or one of its texts, unless these are too many to choose from."""
    name, values = escaped(column.name), [*dict.fromkeys(filter(None, column.texts))]
    if column.is_number or len(values) > MAX_VALUES or any(map(UNFIT.search, values)):
        return _open_condition(column)
    empty = [f"{name} IS NULL"] if "" in column.texts else []
    return "|".join([*(f"{name} = {escaped(as_literal(value))}" for value in values), *empty])


def _open_condition(column: Column) -> str:
    """The pattern of a condition on a column with any value."""
    name = escaped(column.name)
    return f"{name} (=|<|>|<=|>=) {NUMBER}" if column.is_number else f"{name} = {_TEXT}"


def one_of(patterns: Sequence[str]) -> str:
    return f"({'|'.join(patterns)})"


def escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
