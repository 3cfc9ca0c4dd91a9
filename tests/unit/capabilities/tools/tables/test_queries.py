from fractions import Fraction

import pytest

from aeond.capabilities.tools.tables.queries import Found, Operation, answer
from aeond.capabilities.tools.tables.reading import read_table
from aeond.errors import ToolError

TABLE = read_table(
    "date,item,group,amount\n"
    "2026-01-02,Rent,home,900\n"
    "2026-01-03,Bread,food,3.20\n"
    '2026-02-05,Milk,food,"1,80"\n'
    "2026-02-09,Bus,travel,\n"
)


def ask(operation: Operation, column: str = "", where: str = "", by: str = "") -> Found:
    return answer(TABLE, operation, column, where, by)


@pytest.mark.parametrize(
    ("operation", "value"),
    [
        (Operation.SUM, Fraction(905)),
        (Operation.MEAN, Fraction(905, 3)),
        (Operation.MEDIAN, Fraction("3.2")),
        (Operation.MIN, Fraction("1.8")),
        (Operation.MAX, Fraction(900)),
    ],
)
def test_numbers_are_computed_exactly(operation: Operation, value: Fraction) -> None:
    """Cells in different notations are added and compared by their values."""
    assert ask(operation, "amount").value == value
    assert ask(operation).value == value  # the only column with numbers


def test_empty_cells_are_said() -> None:
    """Rows without a number are left out, and the note counts them."""
    found = ask(Operation.SUM, "amount")
    assert (found.rows_used, found.note) == (3, "1 of 4 rows have no number in amount")


def test_the_row_of_an_extreme_is_shown() -> None:
    """The largest and the smallest value come with the row that they stand in; dates are compared too."""
    assert ask(Operation.MAX, "amount").row == "date: 2026-01-02, item: Rent, group: home, amount: 900"
    assert ask(Operation.MAX, "date").value == "2026-02-09"


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
    assert ask(Operation.COUNT, where=where).value == rows


def test_a_condition_that_fits_no_row_shows_the_values() -> None:
    """Where no row fits, the note says which values there are."""
    assert ask(Operation.SUM, "amount", "group = toys").note == "no row fits; group holds home, food, travel"


def test_rows_are_grouped() -> None:
    """An operation is done for each value of a column, in the order of the rows."""
    sums = ask(Operation.SUM, "amount", by="group").groups
    assert sums == (("home", Fraction(900)), ("food", Fraction(5)), ("travel", Fraction(0)))
    counts = ask(Operation.COUNT, by="group").groups
    assert counts == (("home", Fraction(1)), ("food", Fraction(2)), ("travel", Fraction(1)))


def test_rows_are_put_in_order() -> None:
    """Rows are ordered by the value of a column; empty cells come last in both orders."""
    up = [line.split(", ")[1] for line in ask(Operation.ASCENDING, "amount").lines]
    down = [line.split(", ")[1] for line in ask(Operation.DESCENDING, "amount").lines]
    assert up == ["item: Milk", "item: Bread", "item: Rent", "item: Bus"]
    assert down == ["item: Rent", "item: Bread", "item: Milk", "item: Bus"]


def test_values_are_listed() -> None:
    """The cells of a column, or whole rows, are listed in their order."""
    assert ask(Operation.LIST, "item", "group = food").lines == ("Bread", "Milk")
    assert ask(Operation.LIST, where="item = Rent").lines == (
        "date: 2026-01-02, item: Rent, group: home, amount: 900",
    )


def test_plain_lines_are_added_up() -> None:
    """The numbers of plain lines are added whatever their column is called."""
    table = read_table("- lamp 30\n- desk 120\n")
    assert answer(table, Operation.SUM, "price", "", "").value == 150
    assert answer(table, Operation.MAX, "", "", "").row == "- desk 120"


@pytest.mark.parametrize(
    ("operation", "column", "where", "by", "reason"),
    [
        (Operation.SUM, "weight", "", "", "COLUMN_NOT_FOUND"),
        (Operation.SUM, "amount", "weight > 2", "", "COLUMN_NOT_FOUND"),
        (Operation.SUM, "amount", "expensive", "", "CONDITION_INVALID"),
        (Operation.SUM, "amount", "", "shop", "COLUMN_NOT_FOUND"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    operation: Operation, column: str, where: str, by: str, reason: str
) -> None:
    """An unknown column and a condition that cannot be read are refused by reason."""
    with pytest.raises(ToolError) as refused:
        ask(operation, column, where, by)
    assert refused.value.reason == reason


def test_a_column_has_to_be_named_where_several_have_numbers() -> None:
    """Without a name the only column with numbers is taken; of several none is guessed."""
    table = read_table("name,age,size\nIda,9,130\nBo,12,150\n")
    with pytest.raises(ToolError) as refused:
        answer(table, Operation.SUM, "", "", "")
    assert (refused.value.reason, refused.value.candidates) == ("COLUMN_MISSING", ("name", "age", "size"))
