"""The pattern of the queries that a small model may write for a request.

Without it a small model adds conditions that the request does not have (`AND seat = 'two'`), on tables and columns of the examples, and groups
by what it does not select, so that a total falls apart. ADR 0132 has the measurements.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from aeond.capabilities.tools.calculator.numerals import NUMERAL, plain_numeral
from aeond.capabilities.tools.relevance.shared_words import is_same, words_that_count
from aeond.capabilities.tools.tables.cells import column_cells
from aeond.capabilities.tools.tables.joined_tables import FILE_COLUMNS
from aeond.capabilities.tools.tables.reading import MAX_SHOWN_COLUMNS, Table
from aeond.capabilities.tools.tables.statement_pattern import (
    MAX_PATTERN_CHARS,
    MAX_PATTERN_ROWS,
    MAX_VALUES,
    NUMBER,
    UNFIT,
    Column,
    columns_of,
    escaped,
    one_of,
)
from aeond.capabilities.tools.tables.statements import as_literal, table_name
from aeond.domain.names import DATE, POINTED, TIME, words_to_match

ANY_SELECT: Final = "^SELECT .*$"
_SERIES: Final = re.compile(r"\d{1,4}([-./:]\d{1,4})+\.?")  # as in dates, times of day and versions
_DATED: Final = "'[0-9%][0-9:./%T -]*'"
_SUMS: Final = "(SUM|AVG|MIN|MAX|ROUND)"
_PARTS: Final = "(COUNT|substr)"
_FUNCTIONS: Final = "(SUM|AVG|MIN|MAX|ROUND|COUNT|substr)"
_COMPARES: Final = "(=|!=|<|>|<=|>=)"
# None that says more than the columns: a sum of weights that is called `total_deposits` is taken for one.
_ALIAS: Final = "(total|average|number|difference|each|month|year|day)"
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_MAX_TEXT_CHARS: Final = 200  # of a text that a condition may name
_MAX_MORE: Final = 3  # conditions
_MAX_NUMBERS: Final = 10
_FEW: Final = 2  # values of a column such as "paid": which is meant is seldom said


def select_pattern(table: Table, path: str, request: str) -> str:
    """The pattern of a SELECT over the table: conditions have numbers of the request, dates, and texts that the request names, or of which a column
    has few; those that share a word with others of their column are found by it. ANY_SELECT where the pattern would be too long, and for a table
    of more than MAX_SHOWN_COLUMNS or MAX_PATTERN_ROWS."""
    columns = columns_of(table)
    is_shown_whole = len(table.columns) <= MAX_SHOWN_COLUMNS and len(table.rows) <= MAX_PATTERN_ROWS
    if not columns or not is_shown_whole:
        return ANY_SELECT
    name = escaped(table_name(path))
    names = "|".join(escaped(column.name) for column in columns)
    numbers = [escaped(column.name) for column in columns if column.is_number]
    token = f"({names}|{NUMBER}|{_FUNCTIONS}[(](DISTINCT )?|[()*,/+-]|AS {_ALIAS},|ASC|DESC)"
    rest, last = f"( ?{token})*", f"( AS {_ALIAS})?"
    dated = [one for column in columns if _is_dated(column) for one in _said(column, request)]
    named = [one for column in columns if not _is_dated(column) for one in _said(column, request)]
    said = [*dated, *named]
    more = f"( (AND|OR) {one_of(dated)})?" if dated else ""
    more += f"( (AND|OR) {one_of(named)}){{0,{min(len(named), _MAX_MORE)}}}" if named else ""
    more += f"( AND {one_of(dated)})?" if dated and named else ""
    # A small model goes on with whatever may follow: what the request does not name stands alone, and in no sum.
    alone = [*said, *(one for column in columns for one in _unsaid(column, numbers, name))]
    where = f"( WHERE {one_of(said)}{more})?" if said else ""
    where_any = f"( WHERE {one_of(alone)}{more})?" if alone else ""
    order = f"( ORDER BY ({token}|{_ALIAS}){rest})?( LIMIT [0-9]+)?"
    computed = f"{_SUMS}[(](DISTINCT )?{token}{rest}{last} FROM {name}{where}{order}"
    group = f"( GROUP BY ({names}|{_ALIAS})(, ({names}))?)?"
    # Rows of groups without the name of the group say little.
    listed = f"(DISTINCT |[(])?({names}|[*]|{_PARTS}[(](DISTINCT )?{token}){rest}{last} FROM {name}{where_any}{group}{order}"
    pattern = f"^SELECT ({computed}|{listed})$"
    return pattern if len(pattern) <= MAX_PATTERN_CHARS else ANY_SELECT


def _said(column: Column, request: str) -> Sequence[str]:
    """The patterns of conditions on the column with what the request may name."""
    name = escaped(column.name)
    empty = [f"{name} IS (NOT )?NULL"] if "" in column.texts else []
    if column.is_number:
        numbers = [escaped(one) for one in _numbers_of(request) if _may_divide(one, column)][:_MAX_NUMBERS]
        return [*([f"{name} {_COMPARES} -?{one_of(numbers)}"] if numbers else []), *empty]
    if _is_dated(column):
        if all(map(TIME.match, filter(None, column.texts))) and not any(map(str.isdigit, request)):
            return empty  # a time of day is given in digits, a date perhaps in words
        compared = f"{name} ({_COMPARES[1:-1]}|LIKE) {_DATED}"
        return [compared, f"{name} BETWEEN {_DATED} AND {_DATED}", *empty]
    whole, words = _meant(column, request)
    shared = one_of([escaped(as_literal(f"%{word}%")) for word in words])
    conditions = [f"{name} LIKE {shared}"] if words else []
    if whole:
        literal = one_of([escaped(as_literal(text)) for text in whole])
        conditions += [f"{name} (=|!=) {literal}", f"{name} IN [(]{literal}(, {literal})*[)]"]
    return [*conditions, *empty]


def _unsaid(column: Column, numbers: Sequence[str], table: str) -> Sequence[str]:
    """The patterns of conditions that compare the column with others, or with its least or largest value."""
    name = escaped(column.name)
    if not column.is_number and not _is_dated(column):
        return []
    others = [one for one in numbers if one != name]
    compared = [f"{name} (<|>|<=|>=) {one_of(others)}"] if others and column.is_number else []
    compared += [f"{name} = 0"] if "0" in column.texts else []
    return [*compared, f"{name} = [(]SELECT (MIN|MAX)[(]{name}[)] FROM {table}[)]"]  # noqa: S608  # a pattern


def _is_dated(column: Column) -> bool:
    """Whether most of the texts are dates or other series of numbers; names of files are not, so that only those count which the request names."""
    if column.name in FILE_COLUMNS:
        return False
    filled = [text for text in column.texts if text]
    dated = [text for text in filled if _SERIES.fullmatch(text) or DATE.fullmatch(text)]
    return not column.is_number and bool(filled) and 2 * len(dated) >= len(filled)


def _numbers_of(request: str) -> Sequence[str]:
    numbers: dict[str, None] = {}
    for numeral in NUMERAL.findall(request):
        with suppress(ValueError):  # as 3.10.2026
            numbers[plain_numeral(numeral)] = None
        if POINTED.fullmatch(numeral):
            numbers[numeral.replace(".", "")] = None
    return [*numbers]


def _may_divide(numeral: str, column: Column) -> bool:
    """Whether the number may be compared with those of the column: a year only where it lies between them."""
    cells = [cell for cell in column_cells(column.texts) if isinstance(cell, float)]
    is_year = _YEAR.fullmatch(numeral) is not None
    return bool(cells) and (not is_year or min(cells) <= float(numeral) <= max(cells))


def _meant(column: Column, request: str) -> tuple[Sequence[str], Sequence[str]]:
    """The texts of the column that a query may ask for, and the words of them that several share with the request."""
    short = (text for text in dict.fromkeys(column.texts) if 0 < len(text) <= _MAX_TEXT_CHARS)
    texts = [text for text in short if not UNFIT.search(text)]
    said = words_that_count(request)
    sharing: dict[str, list[str]] = defaultdict(list)  # the texts by a word of them that the request has, too
    for text in texts:
        for word in dict.fromkeys(text.split()):
            if any(is_same(one, other) or one == other for one in words_to_match(word) for other in said):
                sharing[word.strip(".,;:()")].append(text)
    words = [word for word, found in sharing.items() if len(found) > 1 and not {*"%_"} & {*word}]
    whole = dict.fromkeys(text for found in sharing.values() if len(found) == 1 for text in found)
    if len(texts) <= _FEW and 2 * len(texts) <= len(column.texts):
        whole |= dict.fromkeys(texts)
    return [*whole][:MAX_VALUES], words[:MAX_VALUES]
