"""The functions of the calculator."""

from fractions import Fraction

import pytest

from aeond.capabilities.tools.calculator.functions import (
    FUNCTION_NAMES,
    called,
    form_of,
    is_function,
    is_unit,
)
from aeond.capabilities.tools.calculator.values import moment
from aeond.errors import ToolError


def test_names_are_functions() -> None:
    """Every name that errors mention is a function, and its example names it."""
    for name in FUNCTION_NAMES:
        assert is_function(name)
        assert form_of(name).startswith(f"{name}(")


def test_min_is_a_unit_and_a_function() -> None:
    """After a number min stands for minutes, before a parenthesis for the smallest value."""
    assert is_unit("min")
    assert called("min", [Fraction(2), Fraction(1)]) == 1


def test_months_between_dates_are_whole() -> None:
    """A month that has not ended yet does not count, in either direction."""
    first, last = moment(2026, 1, 31), moment(2026, 3, 30)
    assert called("months", [first, last]) == 1
    assert called("months", [last, first]) == -1


def test_the_number_of_arguments_is_checked() -> None:
    """Too many arguments are an error that shows a correct call."""
    with pytest.raises(ToolError, match=r"weekday\(date\(2026,3,10\)\)"):
        called("weekday", [Fraction(1), Fraction(2)])
