"""Rows of tables in text files."""

import pytest

from aeond.capabilities.tools.editing.text_edits import Addition, edit_text
from aeond.capabilities.tools.files.table_rows import as_rows, odd_row

LIFTS = "name,group,best_kg,tested\nIda Kern,A,70.0,yes\nOtto Ruiz,A,92.5,no\n2026-05-01,B,1,no\n"


@pytest.mark.parametrize("row", ["Ida Kern,A,72.5,yes", "Ida Kern,B,70.0,yes"])
def test_an_added_row_replaces_none(row: str) -> None:
    """A row with the name of another one, from which it differs in one cell, stands beside it: it may be a second one of that name."""
    edited = edit_text(LIFTS.encode(), [Addition(row)], "lifts.csv")
    assert edited.content.decode() == f"{LIFTS}{row}\n"


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
