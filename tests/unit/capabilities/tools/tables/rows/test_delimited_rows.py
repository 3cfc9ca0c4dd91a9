import pytest

from aeond.capabilities.tools.tables.rows.delimited_rows import delimited_rows
from aeond.capabilities.tools.tables.rows.row_changes import change_rows


def test_rows_are_taken_with_their_line_breaks() -> None:
    """A row has its line break and the empty lines below it, and the header those above it as well."""
    found = delimited_rows('\na;b\r\n"x\ny";1\r\n\r\nz;2')
    assert found is not None
    assert (found.header, found.rows, found.delimiter) == ("\na;b\r\n", ('"x\ny";1\r\n\r\n', "z;2"), ";")


@pytest.mark.parametrize(
    "text",
    [
        "3,4\n5,6\n7,8\n",
        "only lines\nof text\n",
        "a,b\n1,2\n3,4,5\n6,7\n8,9\n1,1\n",
        "| a | b |\n| - | - |\n| 1 | 2 |\n",
        'a,b\n1,"' + "x" * 200_000,
    ],
)
def test_a_header_has_to_name_all_cells(text: str) -> None:
    """Lines without a header, rows that are longer than it, and cells that are too long are no such rows."""
    assert delimited_rows(text) is None


def test_a_cell_with_a_line_break_stays_one_cell() -> None:
    """A row in which another cell is changed keeps a line break within a cell, in quotes."""
    edit = change_rows(b'a,b\n"l1\nl2",1\nx,2\n', ["UPDATE t SET b = 3 WHERE b = 1"], "t.csv")
    assert edit.content == b'a,b\n"l1\nl2",3\nx,2\n'
