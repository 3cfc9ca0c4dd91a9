"""The conversation in which a query is written."""

import sqlite3
from contextlib import closing
from dataclasses import replace

from aeond.capabilities.tools.tables.query_conversation import (
    MAX_SEEN_ROWS,
    MAX_TEXTS,
    MAX_VIEW_CHARS,
    QUERY,
    declaration,
    query_view,
)
from aeond.capabilities.tools.tables.reading import Table, read_table
from aeond.schemas.checker import SchemaChecker

MEMBERS = read_table("name,fee,joined on\nLena,120,2019-04-01\nO'Hara,95,\nTill,120,2015-06-30\n")
DECLARED = """\
CREATE TABLE members (
  name TEXT, -- 'Lena', 'O''Hara', 'Till'
  fee REAL, -- 120, 95
  joined_on TEXT -- '2019-04-01', '2015-06-30'
);"""


def test_the_declaration_of_the_table_is_in_view() -> None:
    """The view declares the table with its columns as a statement names them and with their values, each once."""
    view = query_view({"club/members.csv": MEMBERS}, "who?")
    assert view.text == DECLARED
    check = SchemaChecker()
    assert not check.check("SELECT name FROM members", view.schema, "QUERY")
    assert check.check("DELETE FROM members", view.schema, "QUERY")


def test_a_table_may_lack_what_is_wanted() -> None:
    """No statement is written for what a table lacks, if it is all that its file holds and all its columns are in view: it means no query then."""
    check = SchemaChecker()
    wide = replace(MEMBERS, columns=tuple(map(str, range(40))), rows=())
    beside = (replace(MEMBERS, around="paid in May"), replace(MEMBERS, whole="A list."), wide)
    for table, lacks in ((MEMBERS, True), *((one, False) for one in beside), (read_table("one\ntwo"), False)):
        view = query_view({"club/members.csv": table}, "who?")
        assert view.may_lack is lacks
        assert (not check.check("", view.schema, "QUERY")) is lacks
    assert query_view({"club/members.csv": MEMBERS}, "who?").meant("", "") is None


def test_two_values_of_a_column_are_alternatives() -> None:
    """Where no row can have both values, either is looked for; conditions that a row may fulfil together stay as they are."""
    head = "SELECT * FROM members WHERE "
    for written, meant in (
        ("name = 'Lena' AND name = 'Till' AND fee = 95", "(name = 'Lena' OR name = 'Till') AND fee = 95"),
        (
            "joined_on LIKE '2019-04%' AND joined_on LIKE '2015%'",
            "(joined_on LIKE '2019-04%' OR joined_on LIKE '2015%')",
        ),
        ("fee = 95 AND fee = 120", "(fee = 95 OR fee = 120)"),
        ("name = 'Lena' AND name = 'lena'", ""),
        ("name LIKE '%a%' AND name LIKE '%n%'", ""),
        ("joined_on LIKE '2019%' AND joined_on LIKE '2019-04%'", ""),
        ("name = 'Lena' AND paid = 'Till'", ""),
        ("fee > 95 AND fee > 100", ""),
    ):
        view = query_view({"club/members.csv": MEMBERS}, "Lena and Till")
        assert view.meant(head + written, "") == head + (meant or written)
    assert query_view({"club/members.csv": MEMBERS}, "").meant(None, "") is None


def test_rows_say_which_they_are() -> None:
    """A statement that lists rows also selects the columns that it compares or sorts by; sums, groups, all columns and joins stay as they are."""
    for written, meant in (
        (
            "SELECT fee FROM members WHERE name = 'Lena' OR name = 'Till'",
            "SELECT name, fee FROM members WHERE name = 'Lena' OR name = 'Till'",
        ),
        ("SELECT name FROM members ORDER BY fee DESC", "SELECT fee, name FROM members ORDER BY fee DESC"),
        ("SELECT name, fee FROM members WHERE fee = (SELECT MAX(fee) FROM members)", ""),
        ("SELECT name FROM members WHERE name = 'fee'", ""),
        ("SELECT SUM(fee) AS total FROM members WHERE name = 'Lena'", ""),
        ("SELECT DISTINCT name FROM members WHERE fee = 95", ""),
        ("SELECT * FROM members WHERE fee = 95", ""),
        ("SELECT name FROM members", ""),
    ):
        assert query_view({"club/members.csv": MEMBERS}, "?").meant(written, "") == (meant or written)
    joined = "SELECT m.fee FROM members AS m JOIN old AS o ON m.name = o.name"
    assert query_view({"members.csv": MEMBERS, "old.csv": MEMBERS}, "?").meant(joined, "") == joined


def test_values_that_share_words_with_the_request_come_first() -> None:
    """Of a column with many values those are shown that the request may mean, in any case, and then the first ones."""
    names = tuple((f"boat {number}",) for number in range(40))
    for request, first in (("where is Boat 31?", "boat 31"), ("where is IDA?", "Ida"), ("where?", "boat 0")):
        table = Table(("name",), (*names, ("Ida",)))
        shown = declaration(table, "boats.csv", request).splitlines()[1]
        assert shown.startswith(f"  name TEXT -- '{first}', ")
        assert shown.endswith(", ...")
        assert shown.count("'") == 2 * MAX_TEXTS


def test_a_view_is_bounded() -> None:
    """Long values are cut, and of a table with many columns the last ones are shown without values."""
    columns = tuple(f"column{number}" for number in range(30))
    rows = tuple(tuple(f"{row} {'word ' * 40}" for _ in columns) for row in range(20))
    view = declaration(Table(columns, rows), "wide.csv", "")
    assert "\n  column29 TEXT\n);" in view
    assert len(view) < MAX_VIEW_CHARS + 30 * 40


def test_a_value_of_several_lines_stays_in_its_line() -> None:
    """A line break in a cell ends no comment of the declaration."""
    view = declaration(Table(("x",), (("a\nb",),)), "x.csv", "")
    assert view == "CREATE TABLE x (\n  x TEXT -- 'a b'\n);"


def test_the_examples_are_valid_statements() -> None:
    """Each declaration of a worked example is one that SQLite reads, and its statement one over that table."""
    for view, _request, statement in QUERY.examples:
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute(view)
            database.execute(str(statement))


def test_of_a_long_table_the_first_rows_are_ranked() -> None:
    """Values behind the first MAX_SEEN_ROWS rows are left out, so that the view of any table is made in no time."""
    rows = (*((f"row {number}",) for number in range(MAX_SEEN_ROWS)), ("Ida",))
    assert "Ida" in declaration(Table(("x",), rows[1:]), "x.csv", "ida?")
    assert "Ida" not in declaration(Table(("x",), rows), "x.csv", "ida?")
