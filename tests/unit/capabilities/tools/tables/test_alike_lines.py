import pytest

from aeond.capabilities.tools.tables.alike_lines import AlikeLines, alike_lines


@pytest.mark.parametrize(
    ("lines", "columns", "row"),
    [
        (
            [
                "2026-03-02 pump A pressure 2.1 bar",
                "2026-03-03 pump B pressure 1.9 bar",
                "2026-03-04 pump A pressure 2.0 bar",
            ],
            ("date", "pump", "pressure"),
            ("2026-03-02", "A", "2.1"),
        ),
        (
            ["Mon 6.2 km 38 min", "Wed 8 km 51 min", "Sat 14 km 95 min"],
            ("name", "km", "min"),
            ("Mon", "6.2", "38"),
        ),
        (
            ["- nails 2 x 1.15", "- wood glue 1 x 7.90", "- rope 3 x 2.49"],
            ("name", "x", "number"),
            ("nails", "2", "1.15"),
        ),
        (
            ["2.3. Lena 30", "12.10. Omar 20", "1.12. Till 9"],
            ("date", "name", "number"),
            ("2.3.", "Lena", "30"),
        ),
        (
            ["2026-03-02T10:15:30 ok 12", "2026-03-02T10:16:30 ok 14", "2026-03-02T11:00:00 ok 9"],
            ("date", "ok"),
            ("2026-03-02T10:15:30", "12"),
        ),
        (
            ["2026/03/02 Lena 30", "2026/03/04 Omar 20", "2026/03/09 Till 9"],
            ("date", "name", "number"),
            ("2026/03/02", "Lena", "30"),
        ),
        (["rent 1\u00a0200", "power 90", "food 400"], ("name", "number"), ("rent", "1200")),
        (["rent 1\u2009200", "power 90", "food 400"], ("name", "number"), ("rent", "1200")),
        (["540g rice", "30 g salt", "1 onion"], ("number", "name"), ("540", "g rice")),
        (["tea: €3", "milk: €1.20", "salt: €0.90", "3 things"], ("name", "number"), ("tea", "3")),
    ],
)
def test_lines_of_one_form_are_a_table(
    lines: list[str], columns: tuple[str, ...], row: tuple[str, ...]
) -> None:
    """Values and texts are cells, common words beside them name the columns, and units stand apart from their numbers."""
    found = alike_lines(lines)
    assert found is not None
    assert (found.columns, found.rows[0]) == (columns, row)


def test_other_lines_stand_beside_the_table() -> None:
    """A title is no row, and what only one row says behind the others has a column of its own."""
    lines = [
        "Week 31",
        "Mon 6.2 km 38 min",
        "Wed 8 km 51 min, with Omar",
        "Sat 14 km 95 min",
        "Sun 5 km 30 min",
    ]
    assert alike_lines(lines) == AlikeLines(
        ("name", "km", "min", "more"),
        (
            ("Mon", "6.2", "38", ""),
            ("Wed", "8", "51", "with Omar"),
            ("Sat", "14", "95", ""),
            ("Sun", "5", "30", ""),
        ),
        ("Week 31",),
    )


@pytest.mark.parametrize(
    "lines",
    [
        ["The slip is closed.", "Keys are with Omar.", "No noise after ten."],
        ["one 1", "two 2"],
        ["Ida, built 1988", "length 6.4 m", "red sails", "see engine.log", "mast 9 m, of wood"],
        ["12", "13", "14"],
        ["# Rules", "# Boats", "# Keys are with Omar"],
        ["The mill closes at 6", "Bring sacks before 7", "Ida pays 9", "Omar gets 5 sacks back"],
    ],
)
def test_other_texts_are_no_table(lines: list[str]) -> None:
    """Too few lines of one form, lines without numbers, with nothing beside them, and sentences that begin alike are none."""
    assert alike_lines(lines) is None
