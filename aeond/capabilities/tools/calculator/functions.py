"""The functions of the calculator by name: those of arithmetic, dates, times and units of time."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from functools import partial
from operator import mul
from typing import Final

from aeond.capabilities.tools.calculator.arithmetic import FUNCTIONS
from aeond.capabilities.tools.calculator.tokens import invalid
from aeond.capabilities.tools.calculator.values import (
    CLOCK_UNITS,
    DAY,
    HOUR,
    MINUTE,
    MONTHS,
    SECOND,
    WEEK,
    Months,
    Span,
    Value,
    applied,
    moment,
    months_between,
    multiply,
    quotient,
    subtract,
    weekday,
)

_DATE_PARTS: Final = 3
_FORMS: Final = {"date": "date(2026,3,10)", "time": "time(9,50)", "weekday": "weekday(date(2026,3,10))"}
_UNITS: Final[Mapping[str, tuple[int, int]]] = {
    # name: its length in seconds, the unit that it is shown in
    "d": (DAY, DAY),
    "day": (DAY, DAY),
    "days": (DAY, DAY),
    "week": (WEEK, DAY),
    "weeks": (WEEK, DAY),
    "h": (HOUR, MINUTE),
    "hour": (HOUR, MINUTE),
    "hours": (HOUR, MINUTE),
    "min": (MINUTE, MINUTE),  # after a number; before a parenthesis it is the smallest of several values
    "minute": (MINUTE, MINUTE),
    "minutes": (MINUTE, MINUTE),
    "s": (SECOND, MINUTE),
    "second": (SECOND, MINUTE),
    "seconds": (SECOND, MINUTE),
}
_MONTHS: Final[Mapping[str, int]] = {"month": 1, "months": 1, "year": MONTHS, "years": MONTHS}


def is_unit(name: str) -> bool:
    """Whether the name is a unit of time when it follows a number."""
    return name in _UNITS or name in _MONTHS


def is_function(name: str) -> bool:
    return name in _CALLS or name in FUNCTIONS


def form_of(name: str) -> str:
    """A call of the function that is written correctly."""
    return _FORMS.get(name, f"{name}(2)")


def measured(name: str, value: Value) -> Value:
    """So many of a unit; of a length of time, how many of the unit it has."""
    if name in _MONTHS:
        return multiply(Months(Fraction(_MONTHS[name])), value)
    seconds, unit = _UNITS[name]
    one = Span(Fraction(seconds), unit)
    return quotient(value, one) if isinstance(value, Span) else multiply(one, value)


def called(name: str, values: Sequence[Value]) -> Value:
    """The value of a function. Raises ToolError (EXPRESSION_INVALID and the reasons of the function)."""
    own = _CALLS.get(name)
    fewest, most = (own or FUNCTIONS[name])[:2]
    if not fewest <= len(values) <= most:
        raise invalid(f"{name} takes {fewest} to {most} arguments, got {len(values)}", form_of(name))
    return own[2](values) if own else applied(name, values)


def _between(name: str, values: Sequence[Value]) -> Value:
    """A unit of one value; of two dates, how many of the unit are between them."""
    if len(values) == 1:
        return measured(name, values[0])
    if name in _MONTHS:
        return Fraction(int(months_between(values) / _MONTHS[name]))
    return measured(name, subtract(values[1], values[0]))


def _date(values: Sequence[Value]) -> Value:
    if len(values) == 1 and isinstance(values[0], datetime):
        return values[0]
    if len(values) != _DATE_PARTS:
        raise invalid("date takes a year, a month and a day", form_of("date"))
    year, month, day = _whole(values, "date")
    return moment(year, month, day)


def _time(values: Sequence[Value]) -> Value:
    if len(values) == 1 and isinstance(values[0], Span):
        return values[0]
    return Span(Fraction(sum(map(mul, _whole(values, "time"), CLOCK_UNITS))), MINUTE)


def _whole(values: Sequence[Value], name: str) -> list[int]:
    numbers = [int(value) for value in values if isinstance(value, Fraction) and value.denominator == 1]
    if len(numbers) < len(values):
        raise invalid(f"{name} takes whole numbers", form_of(name))
    return numbers


_Call = tuple[int, int, Callable[[Sequence[Value]], Value]]
# name: fewest arguments, most arguments, what it computes
_CALLS: Final[Mapping[str, _Call]] = {
    "date": (1, _DATE_PARTS, _date),
    "time": (1, len(CLOCK_UNITS), _time),
    "weekday": (1, 1, lambda values: weekday(values[0])),
    **{name: (1, 2, partial(_between, name)) for name in (*_UNITS, *_MONTHS) if name not in FUNCTIONS},
}
FUNCTION_NAMES: Final = (*FUNCTIONS, "date", "time", "weekday", "days", "weeks", "months", "years")
"""The names to mention: those of units have shorter and longer forms."""
