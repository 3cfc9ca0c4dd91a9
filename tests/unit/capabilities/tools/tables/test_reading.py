import pytest

from aeond.capabilities.tools.tables.reading import Table, read_table
from aeond.errors import ToolError

ITEMS = Table(("item", "price"), (("lamp", "30"), ("desk", "120")))


@pytest.mark.parametrize(
    "text",
    [
        "item,price\nlamp,30\ndesk,120\n",
        "\ufeffitem;price\r\nlamp;30\r\n\r\ndesk;120",
        "item\tprice\nlamp\t30\ndesk\t120\n",
        "| item | price |\n| --- | ---: |\n| lamp | 30 |\n| desk | 120 |\n",
        '[{"item": "lamp", "price": 30}, {"item": "desk", "price": 120}]',
        'item,price\n"lamp","30"\ndesk, 120 \n',
    ],
)
def test_a_table_is_read_from_any_form(text: str) -> None:
    """Commas, semicolons, tabs, Markdown and JSON give the same table."""
    assert read_table(text) == ITEMS


def test_a_table_without_a_header_has_numbered_columns() -> None:
    """A first row with a number in it is data."""
    table = read_table("lamp,30\ndesk,120\n")
    assert table.columns == ("1", "2")
    assert table.rows == (("lamp", "30"), ("desk", "120"))


def test_the_names_of_columns_may_have_digits() -> None:
    """A name with a year, a length or a number in it makes no data of the header."""
    table = read_table("hive,honey_kg_2025,best_500m,q4\nBirch,17.5,1:52,3\n")
    assert table.columns == ("hive", "honey_kg_2025", "best_500m", "q4")
    assert table.rows == (("Birch", "17.5", "1:52", "3"),)


def test_rows_are_as_long_as_the_header() -> None:
    """Short rows are filled up and long ones cut."""
    table = read_table("a,b,c\nx,y,z\n1,2,3\n4,5\n6,7,8,9\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n")
    assert set(map(len, table.rows)) == {3}


def test_plain_lines_have_a_text_and_a_number() -> None:
    """Of lines that are no table the last number counts, and the number of a list item does not."""
    table = read_table("1. rent 900 EUR\n2. bread (2 pieces) 3,20\n3. thanks\n")
    assert table.plain
    assert [row[1] for row in table.rows] == ["900", "3,20", ""]
    assert table.shown(table.rows[0]) == "1. rent 900 EUR"


def test_a_row_is_shown_with_its_columns() -> None:
    """A row is shown in one line with the names of its columns, without empty cells."""
    assert ITEMS.shown(("lamp", "30")) == "item: lamp, price: 30"
    assert ITEMS.shown(("lamp", "")) == "item: lamp"


def test_a_column_is_found_by_its_form() -> None:
    """Case, spelling and parts of the name find a column; what fits none is refused with all columns."""
    table = Table(("First name", "Family name", "Age"), ())
    assert table.column("age") == 2
    assert table.column("first") == 0
    with pytest.raises(ToolError) as unknown:
        table.column("height")
    assert (unknown.value.reason, unknown.value.candidates) == ("COLUMN_NOT_FOUND", table.columns)
    with pytest.raises(ToolError) as ambiguous:
        table.column("name")
    assert ambiguous.value.reason == "COLUMN_AMBIGUOUS"
    assert ambiguous.value.candidates == ("First name", "Family name")


def test_an_empty_file_holds_no_table() -> None:
    """A file with nothing but white space is refused."""
    with pytest.raises(ToolError) as refused:
        read_table(" \n\n")
    assert refused.value.reason == "TABLE_EMPTY"
