"""Rows of tables in text files."""

import pytest

from aeond.capabilities.tools.files.table_rows import as_rows, changed_row, odd_row
from aeond.capabilities.tools.files.text_edits import Addition, edit_text

LIFTS = "name,group,best_kg,tested\nIda Kern,A,70.0,yes\nOtto Ruiz,A,92.5,no\n2026-05-01,B,1,no\n"
TWICE = LIFTS + "Ida Kern,B,71.0,yes\n"


@pytest.mark.parametrize(
    ("text", "addition", "path", "row"),
    [
        (LIFTS, "Ida Kern,A,72.5,yes\n", "lifts.csv", "Ida Kern,A,70.0,yes"),
        (LIFTS.replace(",", ";"), "Ida Kern;A;72.5;yes", "lifts.csv", "Ida Kern;A;70.0;yes"),
        (LIFTS, "Ida Kern,B,72.5,yes", "lifts.csv", ""),  # two cells differ
        (LIFTS, "Ida Kern,A,70.0,yes", "lifts.csv", ""),  # none does
        (LIFTS, "Mel Kern,A,70.0,yes", "lifts.csv", ""),  # another name
        (LIFTS, "2026-05-01,B,2,no", "lifts.csv", ""),  # a date is no name
        (TWICE, "Ida Kern,A,72.5,yes", "lifts.csv", ""),  # two rows have the name
        (LIFTS, "Ida Kern,A,72.5,yes\nMel,A,60.0,no", "lifts.csv", ""),
        (LIFTS, "Ida Kern,A,72.5", "lifts.csv", ""),
        (LIFTS, "Ida Kern,A,72.5,yes", "lifts.txt", ""),
        ("name,kg,on\nIda,70,yes\nOtto,92,no\n", "Ida,72,yes", "lifts.csv", ""),  # too few columns
        ("", "Ida Kern,A,72.5,yes", "lifts.csv", ""),
    ],
)
def test_a_row_that_changes_one_cell_is_known(text: str, addition: str, path: str, row: str) -> None:
    """It has the name of one other row, and all cells but one; dates and numbers are no names."""
    assert changed_row(text, addition, path) == row


def test_such_a_row_takes_the_place_of_the_other() -> None:
    """Added to its table, the row replaces the one that it changes, and the report says so."""
    edited = edit_text(LIFTS.encode(), [Addition("Ida Kern,A,72.5,yes")], "lifts.csv")
    assert edited.content.decode() == LIFTS.replace("70.0", "72.5")
    assert edited.change == "now: Ida Kern,A,72.5,yes"


def test_new_rows_get_the_form_of_the_others() -> None:
    """Spaces around cells go, and so does a unit that the column's name says, where all rows are plain."""
    table = "name,weight_kg,group\nIda,70,A\nOtto,92,A\n"
    assert as_rows(table, "Mel, 60, A\nPer,81,B\n", "a.csv") == "Mel,60,A\nPer,81,B"
    assert as_rows("name,price_eur\noil,5\ntea,3\n", "jam,4 euros", "a.csv") == "jam,4"
    assert as_rows(table, "Mel, 60", "a.csv") == "Mel, 60"


def test_a_row_with_another_number_of_cells_is_found() -> None:
    """A table all of whose rows fit the header has none that does not after an edit."""
    assert odd_row(LIFTS, LIFTS + "Mel,A\n", "lifts.csv").startswith("a line has 2 fields, its header 4")
    assert odd_row(LIFTS, LIFTS + "Mel,A,1,no\n", "lifts.csv") == ""
    assert odd_row(LIFTS, LIFTS + "Mel,A\n", "lifts.md") == ""
