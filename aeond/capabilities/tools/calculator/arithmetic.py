"""Exact arithmetic that cannot run away: rational numbers with bounds on their size.

0.1 + 0.2 is 0.3 and a third times three is one. What has no exact value (roots, logarithms, long powers)
is computed to PRECISION digits, more than a float can show. No value grows beyond LARGEST in magnitude or
MAX_BITS in its fraction, so no operation takes more than microseconds.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction
from typing import Final

from aeond.errors import ToolError

PRECISION: Final = 50
LARGEST: Final = 10**300
MAX_BITS: Final = 4_096

_CONTEXT: Final = Context(
    prec=PRECISION, Emax=300, Emin=-300, traps=[DivisionByZero, InvalidOperation, Overflow]
)

Function = Callable[[Sequence[Fraction]], Fraction]


def bounded(value: Fraction) -> Fraction:
    """The value, rounded to PRECISION digits if its fraction has grown long.

    Raises ToolError (NUMBER_TOO_LARGE).
    """
    if abs(value) >= LARGEST:
        raise ToolError("the result has more than 300 digits", reason="NUMBER_TOO_LARGE")
    if value.denominator.bit_length() > MAX_BITS:
        return Fraction(_decimal(value))
    return value


def divide(left: Fraction, right: Fraction) -> Fraction:
    return bounded(left / _divisor(right))


def floor_divide(left: Fraction, right: Fraction) -> Fraction:
    return bounded(Fraction(left // _divisor(right)))


def remainder(left: Fraction, right: Fraction) -> Fraction:
    """The remainder of a floor division; it has the sign of the divisor."""
    return bounded(left % _divisor(right))


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """Exact where the result is short enough to write out, else to PRECISION digits."""
    if base == 0 and exponent < 0:
        raise _division_by_zero()
    if exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(exponent) * bits <= MAX_BITS:
            return bounded(Fraction(base**exponent.numerator))
    return _inexact(lambda: _CONTEXT.power(_decimal(base), _decimal(exponent)))


def as_number(value: Fraction) -> int | float:
    """An integer where the value is one, else the nearest float."""
    if value.denominator == 1:
        return value.numerator
    number = float(value)
    return int(number) if number.is_integer() else number


def _divisor(value: Fraction) -> Fraction:
    if value == 0:
        raise _division_by_zero()
    return value


def _division_by_zero() -> ToolError:
    return ToolError("division by zero", reason="DIVISION_BY_ZERO")


def _decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _inexact(compute: Callable[[], Decimal]) -> Fraction:
    try:
        return bounded(Fraction(compute()))
    except Overflow:
        raise ToolError("the result has more than 300 digits", reason="NUMBER_TOO_LARGE") from None
    except InvalidOperation:
        raise ToolError(
            "this has no value among the real numbers, such as the root of a negative number",
            reason="NOT_A_NUMBER",
        ) from None


def _square_root(value: Fraction) -> Fraction:
    if value >= 0:
        root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
        if root * root == value:
            return root
    return _inexact(lambda: _CONTEXT.sqrt(_decimal(value)))


def _round(values: Sequence[Fraction]) -> Fraction:
    """Halves go away from zero, as people expect of money."""
    digits = values[1] if len(values) == 2 else Fraction(0)
    if digits.denominator != 1 or abs(digits) > PRECISION:
        raise ToolError(
            f"round takes a whole number of digits, at most {PRECISION}", reason="EXPRESSION_INVALID"
        )
    scale = Fraction(10) ** digits.numerator
    magnitude = Fraction(math.floor(abs(values[0]) * scale + Fraction(1, 2))) / scale
    return bounded(magnitude if values[0] >= 0 else -magnitude)


def _logarithm(value: Fraction, logarithm: Callable[[Decimal], Decimal]) -> Fraction:
    if value <= 0:
        raise ToolError("only numbers above zero have a logarithm", reason="NOT_A_NUMBER")
    return _inexact(lambda: logarithm(_decimal(value)))


def _circular(function: Callable[[float], float]) -> Function:
    return lambda values: bounded(Fraction(repr(function(float(values[0])))))


def _mean(values: Sequence[Fraction]) -> Fraction:
    return bounded(sum(values, Fraction(0)) / len(values))


def _one(function: Callable[[Fraction], Fraction | int]) -> Function:
    return lambda values: bounded(Fraction(function(values[0])))


CONSTANTS: Final[Mapping[str, Fraction]] = {
    "pi": Fraction("3.14159265358979323846264338327950288419716939937511"),
    "e": Fraction("2.71828182845904523536028747135266249775724709369996"),
}

FUNCTIONS: Final[Mapping[str, tuple[int, int, Function]]] = {
    # name: fewest arguments, most arguments, what it computes
    "abs": (1, 1, _one(abs)),
    "avg": (1, 100, _mean),
    "ceil": (1, 1, _one(math.ceil)),
    "cos": (1, 1, _circular(math.cos)),
    "exp": (1, 1, lambda values: _inexact(lambda: _CONTEXT.exp(_decimal(values[0])))),
    "floor": (1, 1, _one(math.floor)),
    "ln": (1, 1, lambda values: _logarithm(values[0], _CONTEXT.ln)),
    "log10": (1, 1, lambda values: _logarithm(values[0], _CONTEXT.log10)),
    "max": (1, 100, max),
    "mean": (1, 100, _mean),
    "min": (1, 100, min),
    "round": (1, 2, _round),
    "sin": (1, 1, _circular(math.sin)),
    "sqrt": (1, 1, _one(_square_root)),
    "sum": (1, 100, lambda values: bounded(sum(values, Fraction(0)))),
    "tan": (1, 1, _circular(math.tan)),
}
