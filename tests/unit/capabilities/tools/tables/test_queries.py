"""Queries over tables."""

from fractions import Fraction

import pytest

from aeond.capabilities.tools.tables.queries import MAX_GROUPS, Found, Query, answer
from aeond.capabilities.tools.tables.reading import read_table
from aeond.errors import ToolError

TABLE = read_table(
    "date,item,group,amount\n"
    "2026-01-02,Rent,home,900\n"
    "2026-01-03,Bread,food,3.20\n"
    '2026-02-05,Milk,food,"1,80"\n'
    "2026-02-09,Bus,travel,\n"
)


def ask(where: str = "", columns: str = "", sort: str = "", total: str = "", by: str = "") -> Found:
    return answer(TABLE, Query(where, columns, sort, total, by))


@pytest.mark.parametrize(
    ("total", "value"),
    [
        ("sum amount", Fraction(905)),
        ("SUM(amount)", Fraction(905)),
        ("sum", Fraction(905)),  # the only column with numbers
        ("amount", Fraction(905)),
        ("avg amount", Fraction(905, 3)),
        ("mean amount", Fraction(905, 3)),
        ("average(Amount)", Fraction(905, 3)),
        ("median amount", Fraction("3.2")),
        ("min amount", Fraction("1.8")),
        ("max amount", Fraction(900)),
        ("count", Fraction(4)),
        ("count(*)", Fraction(4)),
    ],
)
def test_numbers_are_computed_exactly(total: str, value: Fraction) -> None:
    """Cells in different notations are totalled by their values, however the total is written."""
    assert ask(total=total).value == value


def test_empty_cells_are_counted() -> None:
    """Rows without a number are left out, and the note counts them."""
    found = ask(total="sum amount")
    assert (found.rows_used, found.note) == (3, "1 of 4 rows have no number in amount")


def test_the_row_of_an_extreme_is_shown() -> None:
    """The largest and the smallest value come with the row that they stand in; dates are compared too."""
    assert ask(total="max amount").row == "date: 2026-01-02, item: Rent, group: home, amount: 900"
    assert ask(total="max date").value == "2026-02-09"
    assert ask(where="item = Bus", total="max amount").value is None


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("", 4),
        ("group = food", 2),
        ("group=FOOD", 2),
        ("group != food", 2),
        ("amount > 2", 2),
        ("amount >= 3.2", 2),
        ("amount < 3,2", 1),
        ("date >= 2026-02-01", 2),
        ("item contains br", 1),
        ("group = food and amount > 2", 1),
        ("group = 'food'", 2),
        ("group = toys", 0),
    ],
)
def test_rows_are_chosen_by_conditions(where: str, rows: int) -> None:
    """A condition compares numbers by value and texts by form; several conditions must all hold."""
    assert ask(where, total="count").value == rows
    assert len(ask(where).rows) == rows


def test_a_condition_that_fits_no_row_shows_the_values() -> None:
    """Where no row fits, the note lists the existing values."""
    assert ask("group = toys", total="sum amount").note == "no row fits; group holds home, food, travel"


def test_rows_are_grouped() -> None:
    """A total is computed for each value of a column, in the order of the rows or sorted by value or name."""
    sums = ask(total="sum amount", by="group")
    assert sums.columns == ("group", "sum amount")
    assert sums.rows == (("home", Fraction(900)), ("food", Fraction(5)), ("travel", Fraction(0)))
    counts = ask(by="group", sort="-count")
    assert counts.columns == ("group", "count")
    assert counts.rows == (("food", Fraction(2)), ("home", Fraction(1)), ("travel", Fraction(1)))
    assert [row[0] for row in ask(by="group", sort="group desc").rows] == ["travel", "home", "food"]
    assert ask(by="group", total="max amount").rows[2] == ("travel", "")


@pytest.mark.parametrize(
    ("sort", "items"),
    [
        ("amount", ["Milk", "Bread", "Rent", "Bus"]),
        ("amount asc", ["Milk", "Bread", "Rent", "Bus"]),
        ("amount desc", ["Rent", "Bread", "Milk", "Bus"]),
        ("amount descending", ["Rent", "Bread", "Milk", "Bus"]),
        ("-amount", ["Rent", "Bread", "Milk", "Bus"]),
        ("item", ["Bread", "Bus", "Milk", "Rent"]),
    ],
)
def test_rows_are_put_in_order(sort: str, items: list[str]) -> None:
    """Rows are ordered by the value of a column; empty cells come last in both directions."""
    assert [row[0] for row in ask(columns="item", sort=sort).rows] == items


def test_columns_are_chosen() -> None:
    """The cells of some columns, or of all, are given below their names."""
    found = ask("group = food", columns="Item, amount")
    assert found.columns == ("item", "amount")
    assert found.rows == (("Bread", "3.20"), ("Milk", "1,80"))
    assert ask(columns="*").columns == TABLE.columns == ask().columns


def test_plain_lines_are_added_up() -> None:
    """The numbers of plain lines are added whatever their column is called."""
    table = read_table("- lamp 30\n- desk 120\n")
    assert answer(table, Query(total="sum price")).value == 150
    assert answer(table, Query(total="max")).row == "- desk 120"
    assert answer(table, Query(where="text contains desk")).rows == (("- desk 120",),)


@pytest.mark.parametrize(
    ("query", "reason", "field"),
    [
        (Query(total="sum weight"), "COLUMN_NOT_FOUND", "total"),
        (Query(total="weight"), "COLUMN_NOT_FOUND", "total"),
        (Query(where="weight > 2"), "COLUMN_NOT_FOUND", "where"),
        (Query(where="expensive"), "CONDITION_INVALID", "where"),
        (Query(total="count", by="shop"), "COLUMN_NOT_FOUND", "by"),
        (Query(sort="shop"), "COLUMN_NOT_FOUND", "sort"),
        (Query(columns="item, shop"), "COLUMN_NOT_FOUND", "columns"),
    ],
)
def test_unknown_columns_are_refused(query: Query, reason: str, field: str) -> None:
    """An unknown column and a condition that cannot be read are refused with the argument at fault."""
    with pytest.raises(ToolError) as refused:
        answer(TABLE, query)
    assert (refused.value.reason, refused.value.field) == (reason, field)


def test_a_column_has_to_be_named_where_several_have_numbers() -> None:
    """Without a name the only column with numbers is taken; of several none is guessed."""
    table = read_table("name,age,size\nIda,9,130\nBo,12,150\n")
    with pytest.raises(ToolError, match="such as sum size") as refused:
        answer(table, Query(total="sum"))
    assert (refused.value.reason, refused.value.candidates) == ("COLUMN_MISSING", ("name", "age", "size"))


def test_groups_are_bounded() -> None:
    """A column with too many values makes no groups."""
    table = read_table("name,age\n" + "".join(f"n{row},{row}\n" for row in range(MAX_GROUPS + 1)))
    with pytest.raises(ToolError) as refused:
        answer(table, Query(by="name"))
    assert (refused.value.reason, refused.value.field) == ("GROUPS_TOO_MANY", "by")
