"""The conversation in which a small model writes a SELECT statement: below the declaration of the table.

Models of code have read many statements below declarations with sample values, and few below rows: ADR 0119 has the measurements.
"""

import csv
import io
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from aeond.capabilities.tools.relevance.shared_words import words_that_count
from aeond.capabilities.tools.tables.cells import column_cells
from aeond.capabilities.tools.tables.query_pattern import ANY_SELECT, select_pattern
from aeond.capabilities.tools.tables.reading import MAX_SHOWN_COLUMNS, Table
from aeond.capabilities.tools.tables.statements import as_literal, column_names, table_name, without_texts
from aeond.domain.names import words_to_match
from aeond.domain.tools import Composition, CompositionView
from aeond.domain.values import JsonValue

MAX_SEEN_ROWS: Final = 2_000  # whose values are ranked: some hundredths of a second
MAX_TEXTS: Final = 8  # sample values of a column with texts
MAX_NUMBERS: Final = 3
MAX_VALUE_CHARS: Final = 60
MAX_VIEW_CHARS: Final = 3_000
MAX_TOKENS: Final = 200
_COMPARED: Final = r"(=|LIKE) ('(?:[^']|'')*'|-?\d+(?:\.\d+)?)"
_BOTH: Final = re.compile(rf"\b(\w+) {_COMPARED} AND \1 {_COMPARED}", re.IGNORECASE)
_ANY: Final = "%_"  # in a pattern of LIKE
_LISTING: Final = re.compile(r"SELECT ([^()*]+?) FROM (\w+ .*)", re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_INSTRUCTIONS: Final = """\
You write one SQLite SELECT that finds in a table what a person's request needs. Reply with it as a JSON string. Select each row with its \
name and with the numbers that are compared or asked for. Where things are compared, select all of them. If the table does not have it, \
reply with an empty JSON string."""
_MEMBERS: Final = """\
CREATE TABLE members (
  name TEXT, -- 'Lena', 'Omar', 'Till', 'Vera'
  fee REAL, -- 120, 95
  paid TEXT, -- 'yes', 'no'
  since TEXT -- '2019-04-01', '2012-01-15', '2015-06-30', '2021-03-01'
);"""
_COSTS: Final = """\
CREATE TABLE boat_costs (
  date TEXT, -- '2026-03-02', '2026-03-20', '2026-04-11', '2026-04-30', ...
  what TEXT, -- 'paint', 'rope', 'lamp', 'varnish', ...
  shop TEXT, -- 'Marina', 'Hansen', 'Lund & Son'
  euros REAL, -- 48.5, 22, 61.9, ...
  metres REAL -- 30, 12
);"""
_MONTHS: Final = (
    "SELECT substr(date, 1, 7) AS month, SUM(euros) AS total FROM boat_costs "
    "WHERE date LIKE '2026-03%' OR date LIKE '2026-04%' GROUP BY month ORDER BY total DESC"
)
_FIRST_AND_LAST: Final = (
    "SELECT name, since FROM members "
    "WHERE since = (SELECT MIN(since) FROM members) OR since = (SELECT MAX(since) FROM members)"
)
_BY_THE_METRE: Final = (
    "SELECT what, shop, euros / metres AS each FROM boat_costs WHERE what = 'rope' ORDER BY each"
)
_EXAMPLES: Final[tuple[tuple[str, str, JsonValue], ...]] = (
    (
        _MEMBERS,
        "Who pays more, Lena or Omar? And how much more?",
        "SELECT name, fee FROM members WHERE name IN ('Lena', 'Omar') ORDER BY fee DESC",
    ),
    (
        _COSTS,
        "wieviel haben wir insgesamt bei Hansen gelassen?",
        "SELECT shop, SUM(euros) AS total FROM boat_costs WHERE shop = 'Hansen'",
    ),
    (_COSTS, "how deep is the harbour", ""),
    (_COSTS, "was the boat dearer in april than in march? by what amount", _MONTHS),
    (_MEMBERS, "Who still has to pay?", "SELECT name, fee FROM members WHERE paid = 'no'"),
    (_MEMBERS, "wie alt ist Omar?", ""),
    (_MEMBERS, "quién es el socio más antiguo y quién el más nuevo", _FIRST_AND_LAST),
    (
        _COSTS,
        "à quelle boutique on a laissé le plus d'argent, et combien ?",
        "SELECT shop, SUM(euros) AS total FROM boat_costs GROUP BY shop ORDER BY total DESC",
    ),
    (_COSTS, "¿cuánto costó la vela nueva?", ""),
    (_COSTS, "which rope was cheapest by the metre", _BY_THE_METRE),
    (
        _MEMBERS,
        "ilu członków jest w klubie od 2015 roku",
        "SELECT COUNT(*) AS number FROM members WHERE since >= '2015-01-01'",
    ),
    (_MEMBERS, "ring Vera and ask whether she can come on Friday", ""),
)


QUERY: Final = Composition(("query",), _INSTRUCTIONS, _EXAMPLES, facts=False, max_tokens=MAX_TOKENS)


def query_view(tables: Mapping[str, Table], request: str) -> CompositionView:
    """The declarations of the tables in these files, for a statement over them, or "" where they are all that the files hold and have nothing
    for it."""
    shown = (declaration(table, path, request) for path, table in tables.items())
    patterns = [select_pattern(table, path, request) for path, table in tables.items()]
    pattern = patterns[0] if len(patterns) == 1 else ANY_SELECT
    first, *others = tables.values()
    names = () if others else column_names(first.columns)  # of several tables a column may be ambiguous

    def meant(written: JsonValue, _said: str) -> JsonValue:
        if not written:
            return None
        return _with_compared(_either(written), names) if isinstance(written, str) else written

    may_lack = all(map(_is_shown_whole, tables.values()))
    pattern = f"^({pattern[1:-1]})?$" if may_lack else pattern
    return CompositionView("\n".join(shown), {"type": "string", "pattern": pattern}, meant, may_lack)


def _is_shown_whole(table: Table) -> bool:
    """Whether the declaration has all columns of a table that is all that its file holds."""
    beside = table.plain or table.around or table.whole
    return not beside and len(table.columns) <= MAX_SHOWN_COLUMNS


def _with_compared(statement: str, names: Collection[str]) -> str:
    """A statement that lists rows, with the columns that it compares or sorts by before the others: without them the rows do not say which
    they are."""
    listing = _LISTING.fullmatch(statement)
    if listing is None or re.search(r"\b(DISTINCT|GROUP BY)\b", statement):
        return statement
    selected, rest = listing.groups()
    compared = dict.fromkeys(_WORD.findall(without_texts(rest)))
    missing = [name for name in compared if name in names and name not in _WORD.findall(selected)]
    begin = listing.start(1)
    return statement[:begin] + "".join(f"{name}, " for name in missing) + statement[begin:]


def _either(statement: str) -> str:
    """The statement with OR in place of an AND between two values of one column: a small model writes it for "both", and no row has both."""

    def one_of(both: re.Match[str]) -> str:
        column, *compared = both.groups()
        if not _exclude_each_other(*compared):
            return both[0]
        first, second = (f"{column} {sign} {value}" for sign, value in (compared[:2], compared[2:]))
        return f"({first} OR {second})"

    return _BOTH.sub(one_of, statement)


def _exclude_each_other(sign: str, value: str, other_sign: str, other: str) -> bool:
    """Whether no text is equal to both values, or begins with both; what stands in the middle of a text excludes nothing."""
    one, another = value.casefold().strip("'"), other.casefold().strip("'")
    if sign == other_sign == "=":
        return one != another
    begins = [re.split(f"[{_ANY}]", text, maxsplit=1)[0] for text in (one, another)]
    shortest = min(map(len, begins))
    return begins[0][:shortest] != begins[1][:shortest]


def declaration(table: Table, path: str, request: str) -> str:
    """The table as SQL declares it, each column with some of its values in the first MAX_SEEN_ROWS rows: first those that share
    most words with the request."""
    said = set(words_that_count(request))
    columns = list(zip(*table.rows[:MAX_SEEN_ROWS], strict=True)) or [()] * len(table.columns)
    named = list(zip(column_names(table.columns), columns, strict=True))[:MAX_SHOWN_COLUMNS]
    lines, room = [], MAX_VIEW_CHARS
    for number, (name, texts) in enumerate(named, 1):
        kind, values = _kind_and_values(texts, said)
        room -= len(values)
        end = "," if number < len(named) else ""
        lines.append(f"  {name} {kind}{end}" + (f" -- {values}" if values and room > 0 else ""))
    return "\n".join([f"CREATE TABLE {table_name(path)} (", *lines, ");"])


def _kind_and_values(texts: Sequence[str], said: set[str]) -> tuple[str, str]:
    """The type of a column, and some of its values as a statement writes them."""
    cells = [cell for cell in column_cells(texts) if cell is not None]
    are_numbers = bool(cells) and all(isinstance(cell, float) for cell in cells)
    distinct = list(dict.fromkeys(" ".join(text.split()) for text in texts if text))
    first = sorted(distinct, key=lambda text: -len(said.intersection(words_to_match(text))))
    shown = first[: MAX_NUMBERS if are_numbers else MAX_TEXTS]
    values = shown if are_numbers else [as_literal(text[:MAX_VALUE_CHARS]) for text in shown]
    more = ["..."] if len(shown) < len(distinct) else []
    return "REAL" if are_numbers else "TEXT", ", ".join([*values, *more])


def csv_text(lines: Sequence[Sequence[object]]) -> str:
    """The lines as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
