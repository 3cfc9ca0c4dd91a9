"""The conversation in which a query is written."""

import pytest

from aeond.capabilities.tools.tables.query_conversation import (
    MAX_VIEW_CHARS,
    MAX_VIEW_ROWS,
    QUERY,
    query_view,
    table_view,
)
from aeond.capabilities.tools.tables.reading import Table, read_table
from aeond.capabilities.tools.tables.statements import select
from aeond.schemas.checker import SchemaChecker

MEMBERS = read_table("name,fee\nLena,120\nOmar,95\n")


def test_the_table_is_in_view() -> None:
    """The view names the table and its columns as a statement does, above its rows."""
    view = query_view(MEMBERS, "club/members.csv")
    assert view.text == "members(name, fee):\nLena,120\nOmar,95"
    check = SchemaChecker()
    assert not check.check("SELECT name FROM members", view.schema, "QUERY")
    assert check.check("DELETE FROM members", view.schema, "QUERY")


@pytest.mark.parametrize("cell", ["x", "word " * 40])
def test_of_a_long_table_the_first_rows_are_shown(cell: str) -> None:
    """Rows are shown as far as there is room, and then counted."""
    view = table_view(Table(("a",), ((cell,),) * 90), "long.csv").splitlines()
    assert view[-1] == "... 90 rows in all"
    assert len(view) <= MAX_VIEW_ROWS + 2
    assert sum(map(len, view)) <= MAX_VIEW_CHARS + 100


def test_rows_of_several_lines_are_counted_once() -> None:
    """A cell with line breaks counts as part of its row, so that rows left out are reported."""
    rows = (("a\nb\nc",), ("d" * MAX_VIEW_CHARS,), ("e",))
    assert table_view(Table(("x",), rows), "x.csv") == 'x(x):\n"a\nb\nc"\n... 3 rows in all'


def test_the_examples_are_valid_statements() -> None:
    """Each worked example is a statement over the table in its view."""
    for view, _request, statement in QUERY.examples:
        name, _, rest = view.partition("(")
        columns, _, rows = rest.partition("):\n")
        table = read_table(f"{columns.replace(', ', ',')}\n{rows}\n")
        assert select(table, name, str(statement)).rows
