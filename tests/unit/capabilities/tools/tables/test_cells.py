"""The cells of a column as numbers or texts."""

import pytest

from aeond.capabilities.tools.tables.cells import column_cells


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
