import pytest

from aeond.capabilities.tools.tables.cells import Cell, column_cells
from aeond.capabilities.tools.tables.rows.column_form import ColumnForm


@pytest.mark.parametrize(
    ("texts", "cell", "old", "expected"),
    [
        (["19.50", "4.00"], 8.5, "4.00", "8.50"),
        (["-19.50", "4.00"], 8.5, "-19.50", "8.50"),
        (["-3", "4"], -4.0, "-3", "-4"),
        (["12 %", "- 8 %"], 9.0, "- 8 %", "9 %"),
        (["1,20", "3,50"], 4.7, "", "4,70"),
        (["1", "2.5"], 4.0, "", "4"),
        (["1", "2"], None, "1", ""),
        (["a", "b"], "c\n d", "a", "c d"),
        ([], 1.5, "", "1.5"),
    ],
)
def test_cells_are_written_as_the_others_are(texts: list[str], cell: Cell, old: str, expected: str) -> None:
    """A number has the decimals of the others, its own sign, and the unit of the cell that it replaces."""
    assert ColumnForm(texts, column_cells(texts)).text(cell, old) == expected
