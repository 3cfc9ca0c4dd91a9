"""Notes that were not said of a new row."""

import pytest

from aeond.capabilities.tools.tables.reading import read_table
from aeond.capabilities.tools.tables.rows.new_rows import without_copied_texts

TANK = read_table("day,litres,fish,note\nMon,40,neon,\nTue,0,neon,algae on the glass\nWed,60,neon,lost one\n")


@pytest.mark.parametrize(
    ("cells", "said", "meant"),
    [
        (
            "'Thu', 40, 'neon', 'algae on the glass'",
            "on thu I changed 40 l in the tank",
            "'Thu', 40, 'neon', NULL",
        ),
        (
            "'Thu', 40, 'neon', 'algae on the glass'",
            "thu 40, algae again",
            "'Thu', 40, 'neon', 'algae on the glass'",
        ),
        ("'Thu', 40, 'neon', 'new wool'", "on thu I changed 40 l", "'Thu', 40, 'neon', 'new wool'"),
        ("'Thu', 40, 'neon', NULL", "on thu I changed 40 l", "'Thu', 40, 'neon', NULL"),
        ("'Thu', 40, 'it''s (1, 2)', 'lost one'", "thu 40", "'Thu', 40, 'it''s (1, 2)', NULL"),
        ("'Thu', 40", "thu 40", "'Thu', 40"),
    ],
)
def test_a_note_of_another_row_is_not_copied(cells: str, said: str, meant: str) -> None:
    """A text that another row has, in a column that may be empty, is left out where no word of it was said; all else stays."""
    assert (
        without_copied_texts(f"INSERT INTO tank VALUES ({cells})", TANK, said)
        == f"INSERT INTO tank VALUES ({meant})"
    )


@pytest.mark.parametrize(
    "statement", ["DELETE FROM tank WHERE day = 'Mon'", "UPDATE tank SET note = 'lost one' WHERE day = 'Mon'"]
)
def test_other_statements_stay(statement: str) -> None:
    """A statement that adds no row is left as it is."""
    assert without_copied_texts(statement, TANK, "monday") == statement
