"""Numbers, dates, lengths of time, and how they are added, multiplied and shown.

A date is a datetime without a zone. A Span has a fixed length; Months do not, and are only added to dates.
"""

import calendar
from collections.abc import Callable, Sequence
from datetime import MAXYEAR, MINYEAR, datetime, timedelta
from fractions import Fraction
from typing import Final

from aeond.capabilities.tools.calculator.arithmetic import (
    FUNCTIONS,
    as_number,
    bounded,
    divide,
)
from aeond.errors import ToolError
from aeond.frozen import frozen

# In seconds.
SECOND: Final = 1
MINUTE: Final = 60
HOUR: Final = 3_600
DAY: Final = 86_400
WEEK: Final = 7 * DAY

CLOCK_UNITS: Final = (HOUR, MINUTE, SECOND)
MONTHS: Final = 12  # of a year

# Not from the locale: a result must not depend on the machine's language.
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SIGNIFICANT: Final = 12  # digits shown of a number that has no end
_DECIMALS: Final = 4  # shown of it at least


@frozen
class Span:
    """A length of time in seconds, shown in days (`unit` DAY) or in hours and minutes (MINUTE)."""

    seconds: Fraction
    unit: int


@frozen
class Months:
    """Calendar months."""

    count: Fraction


Value = Fraction | datetime | Span | Months | str


def moment(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    """A date with a time of day. ToolError (DATE_INVALID) if there is none."""
    try:
        return datetime(year, month, day, hour, minute)  # noqa: DTZ001 - local time, as people write dates
    except (ValueError, OverflowError):
        raise ToolError(
            f"there is no date {year}-{month}-{day}: write for example date(2026,3,10)", reason="DATE_INVALID"
        ) from None


def add(left: Value, right: Value) -> Value:
    match left, right:
        case Fraction(), Fraction():
            return bounded(left + right)
        case datetime(), Span() | Months():
            return _moved(left, right)
        case datetime(), Fraction():
            return _moved(left, Span(right * DAY, DAY))
        case Span() | Months() | Fraction(), datetime():
            return add(right, left)
        case Span(), Span():
            return Span(bounded(left.seconds + right.seconds), min(left.unit, right.unit))
        case Span(), Fraction() if left.unit == DAY:
            return Span(bounded(left.seconds + right * DAY), DAY)
        case Fraction(), Span():
            return add(right, left)
        case Months(), Months():
            return Months(bounded(left.count + right.count))
        case _:
            raise _unfit("add", left, right)


def subtract(left: Value, right: Value) -> Value:
    if isinstance(left, datetime) and isinstance(right, datetime):
        difference = left - right
        whole = difference.seconds == 0
        return Span(Fraction(difference.days * DAY + difference.seconds), DAY if whole else MINUTE)
    if isinstance(right, datetime | str):
        raise _unfit("subtract", left, right)
    return add(left, negative(right))


def multiply(left: Value, right: Value) -> Value:
    match left, right:
        case Fraction(), Fraction():
            return bounded(left * right)
        case Span(), Fraction():
            return Span(bounded(left.seconds * right), left.unit)
        case Months(), Fraction():
            return Months(bounded(left.count * right))
        case Fraction(), Span() | Months():
            return multiply(right, left)
        case _:
            raise _unfit("multiply", left, right)


def quotient(left: Value, right: Value) -> Value:
    match left, right:
        case Fraction(), Fraction():
            return divide(left, right)
        case Span(), Fraction():
            return Span(divide(left.seconds, right), left.unit)
        case Span(), Span():
            return divide(left.seconds, right.seconds)
        case Months(), Fraction():
            return Months(divide(left.count, right))
        case _:
            raise _unfit("divide", left, right)


def negative(value: Value) -> Value:
    match value:
        case Fraction():
            return -value
        case Span():
            return Span(-value.seconds, value.unit)
        case Months():
            return Months(-value.count)
        case _:
            raise _unfit("negate", value)


def applied(name: str, values: Sequence[Value]) -> Value:
    """A function of arithmetic over numbers; over lengths of time too where that has a meaning."""
    _, _, function = FUNCTIONS[name]
    numbers = [value for value in values if isinstance(value, Fraction)]
    if len(numbers) == len(values):
        return function(numbers)
    spans = [value for value in values if isinstance(value, Span)]
    if len(spans) == len(values) and name in _OF_SPANS:
        unit = min(span.unit for span in spans)
        return Span(function([span.seconds / unit for span in spans]) * unit, unit)
    dates = [value for value in values if isinstance(value, datetime)]
    if len(dates) == len(values) and name in _OF_DATES:
        return _OF_DATES[name](dates)
    raise _unfit(name, *values)


def weekday(value: Value) -> str:
    """The name of the day."""
    if isinstance(value, datetime):
        return _WEEKDAYS[value.weekday()]
    raise _unfit("weekday", value)


def months_between(values: Sequence[Value]) -> Fraction:
    """The whole months from one date to another."""
    match values:
        case [datetime() as first, datetime() as last]:
            if last < first:
                return -months_between([last, first])
            count = (last.year - first.year) * MONTHS + last.month - first.month
            return Fraction(count - (_later(first, count) > last))
        case _:
            raise _unfit("months", *values)


def shown(value: Value) -> int | float | str:
    """A number as one, anything else as a short text."""
    match value:
        case Fraction():
            return as_number(_rounded(value))
        case datetime():
            time = value.strftime(" %H:%M") if value.time() != value.min.time() else ""
            return f"{value.date().isoformat()}{time} ({_WEEKDAYS[value.weekday()]})"
        case Span():
            return _counted(value.seconds / DAY, "day") if value.unit == DAY else _clock(value.seconds)
        case Months():
            return _counted(value.count, "month")
        case str():
            return value


def _moved(start: datetime, by: Span | Months) -> datetime:
    try:
        if isinstance(by, Span):
            return start + timedelta(seconds=round(by.seconds))
        if by.count.denominator == 1:
            return _later(start, int(by.count))
    except (OverflowError, ValueError):
        raise ToolError("dates go from the year 1 to 9999", reason="DATE_INVALID") from None
    raise ToolError("only whole months can be added: write for example months(6)", reason="DATE_INVALID")


def _later(start: datetime, months: int) -> datetime:
    """The same day so many months later, or the last day of a shorter month."""
    year, month = divmod(start.year * MONTHS + start.month - 1 + months, MONTHS)
    if not MINYEAR <= year <= MAXYEAR:
        raise OverflowError
    last = calendar.monthrange(year, month + 1)[1]
    return start.replace(year=year, month=month + 1, day=min(start.day, last))


def of_numbers(
    operation: Callable[[Fraction, Fraction], Fraction], verb: str, left: Value, right: Value
) -> Fraction:
    """The result of an operation that only numbers have."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return operation(left, right)
    raise _unfit(verb, left, right)


def _unfit(verb: str, *values: Value) -> ToolError:
    names = " and ".join(dict.fromkeys(_KINDS[type(value)] for value in values))
    return ToolError(
        f"cannot {verb} {names}; write for example date(2026,3,10)+days(5) or time(9,50)+minutes(35)",
        reason="EXPRESSION_INVALID",
    )


def _rounded(value: Fraction) -> Fraction:
    """The value as it is shown: without a long row of digits."""
    if value.denominator == 1:
        return value
    size = len(str(abs(int(value)))) if abs(value) >= 1 else -_zeros(abs(value))
    return Fraction(round(value, max(_SIGNIFICANT - size, _DECIMALS)))


def _zeros(value: Fraction) -> int:
    """The zeros between the point and the first digit."""
    return len(str(int(1 / value))) - 1


def _counted(count: Fraction, unit: str) -> str:
    return f"{as_number(_rounded(count))} {unit}{'' if abs(count) == 1 else 's'}"


def _clock(seconds: Fraction) -> str:
    """Hours and minutes. Of more than a day also the days; of less than nothing also the time over midnight."""
    total = round(seconds)
    if total <= -DAY or total >= DAY:
        days, rest = divmod(abs(total), DAY)
        return f"{_hours(total)} ({_counted(Fraction(days), 'day')} and {_hours(rest)})"
    return f"{_hours(total)} ({_hours(total + DAY)} across midnight)" if total < 0 else _hours(total)


def _hours(seconds: int) -> str:
    hours, rest = divmod(abs(seconds), HOUR)
    minutes, left = divmod(rest, MINUTE)
    return f"{'-' if seconds < 0 else ''}{hours}:{minutes:02}{f':{left:02}' if left else ''}"


_OF_SPANS: Final = ("abs", "avg", "ceil", "floor", "max", "mean", "min", "round", "sum")
_OF_DATES: Final[dict[str, Callable[[Sequence[datetime]], datetime]]] = {"max": max, "min": min}
_KINDS: Final = {
    Fraction: "a number",
    datetime: "a date",
    Span: "a length of time",
    Months: "months",
    str: "a text",
}
