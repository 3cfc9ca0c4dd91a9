"""The conversation in which a small model writes a SELECT statement: with the table in view."""

import csv
import io
from collections.abc import Sequence
from typing import Final

from aeond.capabilities.tools.tables.reading import Table
from aeond.capabilities.tools.tables.statements import columns_text, table_name
from aeond.domain.tools import Composition, CompositionView
from aeond.domain.values import JsonObject, JsonValue

MAX_VIEW_ROWS: Final = 30
MAX_VIEW_CHARS: Final = 2_000
MAX_TOKENS: Final = 300
_INSTRUCTIONS: Final = """\
You write one SQLite SELECT that finds in a table what a person asks for. Reply with it as a JSON string. Numbers are computed \
in the statement, and each row is selected with its name."""
_SCHEMA: Final[JsonObject] = {"type": "string", "pattern": "^SELECT .*$"}
_MEMBERS: Final = """\
members(name, fee, paid, since):
Lena,120,yes,2019
Omar,95,no,2012
Till,120,no,2015"""
_COSTS: Final = """\
boat_costs(date, what, euros, shop):
2026-03-02,paint,48.5,Marina
2026-03-20,rope,22,Hansen
2026-04-11,lamp,61.9,Hansen
2026-04-30,varnish,18,"""
_DIFFERENCE: Final = (
    "SELECT SUM(CASE WHEN date LIKE '2026-04%' THEN euros END) AS april, "
    "SUM(CASE WHEN date LIKE '2026-03%' THEN euros END) AS march, "
    "SUM(CASE WHEN date LIKE '2026-04%' THEN euros ELSE -euros END) AS difference FROM boat_costs"
)
_EXAMPLES: Final[tuple[tuple[str, str, JsonValue], ...]] = (
    (
        _MEMBERS,
        "Who pays more, Lena or Omar?",
        "SELECT name, fee FROM members WHERE name IN ('Lena', 'Omar') ORDER BY fee DESC",
    ),
    (
        _COSTS,
        "wieviel haben wir insgesamt bei Hansen gelassen?",
        "SELECT shop, SUM(euros) FROM boat_costs WHERE shop = 'Hansen'",
    ),
    (
        _COSTS,
        "was the boat dearer in april than in march? by what amount",
        _DIFFERENCE,
    ),
    (
        _MEMBERS,
        "quién lleva menos tiempo en el club",
        "SELECT name, since FROM members ORDER BY since DESC LIMIT 1",
    ),
    (_MEMBERS, "Who still has to pay?", "SELECT name, fee FROM members WHERE paid = 'no'"),
    (
        _COSTS,
        "what was the last thing we bought",
        "SELECT what, date FROM boat_costs ORDER BY date DESC LIMIT 1",
    ),
)


QUERY: Final = Composition(("query",), _INSTRUCTIONS, _EXAMPLES, facts=False, max_tokens=MAX_TOKENS)


def query_view(table: Table, path: str) -> CompositionView:
    """The table, for a statement over it."""
    return CompositionView(table_view(table, path), _SCHEMA)


def table_view(table: Table, path: str) -> str:
    """The table as a statement names it, and its first rows."""
    lines = [f"{table_name(path)}({columns_text(table.columns)}):"]
    room = MAX_VIEW_CHARS
    for row in table.rows[:MAX_VIEW_ROWS]:
        line = csv_text([row]).removesuffix("\n")
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    if len(lines) - 1 < len(table.rows):
        lines.append(f"... {len(table.rows)} rows in all")
    return "\n".join(lines)


def csv_text(lines: Sequence[Sequence[object]]) -> str:
    """The lines as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
