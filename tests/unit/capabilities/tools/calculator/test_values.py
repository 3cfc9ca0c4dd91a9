"""Values of the calculator, and how they are shown."""

from fractions import Fraction

import pytest

from aeond.capabilities.tools.calculator.values import DAY, MINUTE, Span, Value, add, moment, shown, subtract


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(640), 640),
        (Fraction(1, 3), 0.333333333333),
        (Fraction(-1, 3), -0.333333333333),
        (Fraction(10**12 * 3 + 1, 3), 1000000000000.3333),
        (Fraction(1, 3 * 10**9), 3.33333333333e-10),
        (Fraction(5, 2), 2.5),
        (Span(Fraction(DAY), DAY), "1 day"),
        (Span(Fraction(-2 * DAY), DAY), "-2 days"),
        (Span(Fraction(3661), MINUTE), "1:01:01"),
        (Span(Fraction(-3 * DAY), MINUTE), "-72:00 (3 days and 0:00)"),
        (moment(2026, 3, 10), "2026-03-10 (Tuesday)"),
        (moment(2026, 3, 10, 7, 5), "2026-03-10 07:05 (Tuesday)"),
    ],
)
def test_values_are_shown_in_short(value: Value, text: object) -> None:
    """Numbers without an end are cut to twelve digits, of large ones four decimals stay; dates and times are text."""
    assert shown(value) == text


def test_hours_win_over_days() -> None:
    """A sum of days and hours is shown in hours, the difference of two dates in days."""
    assert shown(add(Span(Fraction(DAY), DAY), Span(Fraction(60), MINUTE))) == "24:01 (1 day and 0:01)"
    assert shown(subtract(moment(2026, 3, 10), moment(2026, 3, 1))) == "9 days"
