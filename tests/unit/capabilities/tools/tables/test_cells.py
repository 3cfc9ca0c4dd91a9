"""The cells of a column as numbers or texts."""

import pytest

from aeond.capabilities.tools.tables.cells import column_cells, highest_and_lowest


@pytest.mark.parametrize(
    ("texts", "cells"),
    [
        (["1.500", "2.000", "1.250,50"], [1500.0, 2000.0, 1250.5]),
        (["1,20", "2,500", "-3.000 %"], [1.2, 2.5, -3000.0]),
        (["1.500", "1.200.000"], [1500.0, 1_200_000.0]),
        (["1.20", "2,500"], [1.2, 2500.0]),
        (["1,500", "1,250.50"], [1500.0, 1250.5]),
        (["1,20", "1.500", "3.5"], [1.2, 1.5, 3.5]),
        (["1.500", "2,500", "7"], [1.5, 2500.0, 7.0]),
    ],
)
def test_the_decimal_sign_is_that_of_the_column(texts: list[str], cells: list[float]) -> None:
    """Cells that only a decimal comma explains decide for all; where none does, or they disagree, each is read alone."""
    assert column_cells(texts) == cells


@pytest.mark.parametrize(
    "texts",
    [
        ["9783161484100", "9783161484101"],
        ["123456789012345678", "42"],
        ["3.10.", "24.12."],
        ["1.9", "1.10", "1.10.2"],
        ["192.168.100.200", "10.0.0.1"],
        ["123.456.789.012.345.678"],
        [f"{'1' * 400}.5"],
    ],
)
def test_codes_days_and_versions_are_texts(texts: list[str]) -> None:
    """What would lose digits, or its meaning, as a number keeps its form."""
    assert column_cells(texts) == texts


def test_amounts_are_numbers() -> None:
    """Prices may have different numbers of decimals, sizes different numbers of digits, and empty cells are None."""
    assert column_cells(["3", "2.50", "1.9", ""]) == [3.0, 2.5, 1.9, None]
    assert column_cells(["1.0", "2.25"]) == [1.0, 2.25]
    assert column_cells(["1000204886016", "64023257088"]) == [1_000_204_886_016.0, 64_023_257_088.0]


def test_extremes_are_named_with_their_rows() -> None:
    """The highest and the lowest number of a column are given as they are written, with the first cells of the rows that have them, of which
    three are named."""
    rows = [("Mo", "1.280,50", "a"), ("Tu", "95,00", "b"), ("We", "", "c"), ("Th", "1.280,50", "d")]
    assert highest_and_lowest(("day", "euros", "x"), rows) == (
        "euros: highest 1.280,50 (Mo, a; Th, d), lowest 95,00 (Tu, b)"
    )
    many = [(str(at), "2") for at in range(5)] + [("9", "1")]
    assert (
        highest_and_lowest(("at", "n"), many).splitlines()[1] == "n: highest 2 (0; 1; 2; ...), lowest 1 (9)"
    )
    assert highest_and_lowest(("n",), [("3",), ("4",)]) == "n: highest 4, lowest 3"


def test_columns_without_different_numbers_have_no_extremes() -> None:
    """One row, texts among numbers, dates, and numbers that are all the same have no highest or lowest one."""
    for columns, rows in (
        (("n",), [("3",)]),
        (("n",), [("3",), ("three",)]),
        (("date",), [("2026-03-01",), ("2026-04-01",)]),
        (("n",), [("3",), ("3",)]),
        (("n",), []),
    ):
        assert highest_and_lowest(columns, rows) == ""
