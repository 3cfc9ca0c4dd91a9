"""Bounded exact numbers."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.tools.calculator.arithmetic import (
    FUNCTIONS,
    LARGEST,
    MAX_BITS,
    as_number,
    bounded,
    power,
    remainder,
)
from aeond.errors import ToolError


def call(name: str, *values: Fraction | int | str) -> Fraction:
    return FUNCTIONS[name][2]([Fraction(value) for value in values])


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (Fraction(420), 420),
        (Fraction(3, 10), 0.3),
        (Fraction(10**20 + 1), 10**20 + 1),
        (Fraction(-1, 2), -0.5),
        (Fraction(10**40 - 1, 10**40), 1),
        (Fraction(1, 10**290), 1e-290),
    ],
)
def test_numbers_come_out_plain(value: Fraction, number: float) -> None:
    """Integers stay integers of any length and everything else is the nearest float."""
    assert as_number(value) == number
    assert type(as_number(value)) is type(number)


def test_magnitude_is_bounded() -> None:
    """The largest magnitude passes and the next is refused, on both sides of zero."""
    assert bounded(Fraction(LARGEST - 1)) == LARGEST - 1
    for value in (LARGEST, -LARGEST):
        with pytest.raises(ToolError) as failure:
            bounded(Fraction(value))
        assert failure.value.reason == "NUMBER_TOO_LARGE"


def test_long_fractions_are_rounded() -> None:
    """A fraction too long to carry on is rounded beyond what a float can show."""
    value = Fraction(1, 3**3000) * 3**2999
    exact = value + Fraction(1, 7**2000)
    rounded = bounded(exact)
    assert rounded.denominator.bit_length() <= MAX_BITS
    assert float(rounded) == float(exact)


@given(st.integers(-50, 50), st.integers(1, 50), st.integers(-60, 60))
def test_powers_of_rationals_are_exact(numerator: int, denominator: int, exponent: int) -> None:
    """A power with an integer exponent and a short result is exactly what repeated multiplication gives."""
    base = Fraction(numerator, denominator)
    if base == 0 and exponent < 0:
        return
    assert power(base, Fraction(exponent)) == base**exponent


@given(st.floats(0.01, 100), st.floats(-20, 20))
def test_other_powers_are_close(base: float, exponent: float) -> None:
    """A power with any other exponent agrees with the machine's own floating-point one."""
    assert math.isclose(power(Fraction(base), Fraction(exponent)), base**exponent, rel_tol=1e-12)


def test_long_powers_are_close() -> None:
    """Interest over ten years of days comes out to the last digit that a float has."""
    assert as_number(power(Fraction("1.0005"), Fraction(3650))) == pytest.approx(1.0005**3650, rel=1e-12)


def test_vanishing_powers_are_zero() -> None:
    """A value too small for any float is zero and costs nothing."""
    assert power(Fraction(1, 2), Fraction(10**9)) == 0


@pytest.mark.parametrize(
    ("value", "digits", "rounded"),
    [("2.5", 0, 3), ("-2.5", 0, -3), ("2.345", 2, "2.35"), ("1250", -2, 1300), ("0.5", 0, 1), ("1.4", 0, 1)],
)
def test_halves_are_rounded_away_from_zero(value: str, digits: int, rounded: str) -> None:
    """Rounding does with halves what people do with money."""
    assert call("round", value, digits) == Fraction(rounded)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("sqrt", 2, math.sqrt(2)),
        ("ln", 10, math.log(10)),
        ("log10", 1000, 3.0),
        ("exp", 1, math.e),
        ("sin", 1, math.sin(1)),
        ("cos", 1, math.cos(1)),
        ("tan", 1, math.tan(1)),
        ("ceil", "1.2", 2),
        ("floor", "-1.2", -2),
        ("abs", "-1.5", 1.5),
    ],
)
def test_functions_agree_with_the_machine(name: str, value: str, expected: float) -> None:
    """Each function gives what the mathematics library gives."""
    assert float(call(name, value)) == pytest.approx(expected, rel=1e-15)


def test_roots_of_squares_are_exact() -> None:
    """The root of a perfect square is exact, also of a fraction."""
    assert call("sqrt", Fraction(9, 16)) == Fraction(3, 4)
    assert call("sqrt", 10**200) == 10**100


@pytest.mark.parametrize(("name", "value"), [("sqrt", -1), ("ln", 0), ("ln", -1), ("log10", 0)])
def test_a_function_outside_its_domain_is_an_error(name: str, value: int) -> None:
    """Roots and logarithms of what has none fail as NOT_A_NUMBER."""
    with pytest.raises(ToolError) as failure:
        call(name, value)
    assert failure.value.reason == "NOT_A_NUMBER"


def test_root_by_power_of_a_negative_number_is_reported() -> None:
    """A broken power of a negative number fails as NOT_A_NUMBER."""
    with pytest.raises(ToolError) as failure:
        power(Fraction(-8), Fraction(1, 3))
    assert failure.value.reason == "NOT_A_NUMBER"


def test_remainder_has_the_sign_of_the_divisor() -> None:
    """Remainders are those of a floor division, also for fractions."""
    assert remainder(Fraction(-7), Fraction(2)) == 1
    assert remainder(Fraction("5.5"), Fraction(2)) == Fraction("1.5")
