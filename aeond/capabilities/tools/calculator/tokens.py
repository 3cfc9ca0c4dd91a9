"""Splits an expression into numbers, dates, times, names and signs.

Numbers may have groups of thousands and a decimal point or comma, as long as one reading is possible: a comma before
exactly three digits is refused, a single point is always the decimal point. Between the arguments of a function a
comma separates; a text with semicolons uses those, and its commas are decimal. Arguments with a blank beside a
comma, in which a comma without one may be decimal, as in sum(1,5, 2,5), are refused.
"""

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from operator import mul
from typing import Final

from aeond.capabilities.tools.calculator.arithmetic import bounded
from aeond.capabilities.tools.calculator.numerals import NUMERAL, plain_numeral
from aeond.capabilities.tools.calculator.values import CLOCK_UNITS, MINUTE, MONTHS, Span, Value, moment
from aeond.errors import ToolError
from aeond.frozen import frozen

_SPELLINGS: Final = str.maketrans(
    {
        "\N{MULTIPLICATION SIGN}": "*",
        "\N{MIDDLE DOT}": "*",
        "\N{DOT OPERATOR}": "*",
        "\N{DIVISION SIGN}": "/",
        "\N{FRACTION SLASH}": "/",
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{SUPERSCRIPT TWO}": "**2",
        "\N{SUPERSCRIPT THREE}": "**3",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    }
)
# How programs write the same: math.ceil(x), (d - d).days, timedelta(days=3), 3x4, 'text'.
_PROGRAMS: Final = (
    (re.compile(r"\b(?:math|datetime)\."), ""),
    (re.compile(r"\)\.days\b"), ")"),
    (re.compile(r"\btimedelta\(\s*([a-z]+)\s*=\s*([^(),]*)\)"), r"\1(\2)"),
    (re.compile(r"(?<=[\d)])(?<!\b0)\s*x\s*(?=[\d(.])"), "*"),
    (re.compile(r"(?<!\d)['\"]|['\"](?!\d)|\""), ""),
)
_NUMBER: Final = rf"(?:{NUMERAL.pattern})\.?(?:e[+-]?\d{{1,3}}(?!\d))?"
_YEAR: Final = r"(?:19|20)\d\d"
_TOKEN: Final = (
    r"\s*(?:"
    rf"(?P<iso>{_YEAR}-\d\d-\d\d(?:[t ]\d\d:\d\d)?(?!\d))"
    rf"|(?P<dotted>\d\d?\.\d\d?\.{_YEAR}(?![\d.]))"
    rf"|(?P<slashed>\d\d?/\d\d?/{_YEAR}(?!\d))|(?P<dashed>{_YEAR}-\d\d?-\d\d?(?!\d))"
    r"|(?P<clock>\d{1,4}:[0-5]\d(?::[0-5]\d)?(?![\d:]))"
    r"|(?P<hours>\d+\s*h\s*[0-5]?\d(?!\d)(?:\s*min\b)?)"
    r"|(?P<number>%s)|(?P<name>[a-z_][a-z0-9_]*)|(?P<sign>\*\*|//|[-+*/%%^(),;\[\]\N{SQUARE ROOT}]))"
)
_OUTSIDE: Final = re.compile(_TOKEN % _NUMBER, re.ASCII)
_AMONG_ARGUMENTS: Final = re.compile(_TOKEN % _NUMBER.replace("[.,]", "[.]"), re.ASCII)
_AMBIGUOUS: Final = re.compile(r"[1-9]\d{0,2},\d{3}")
_GROUPED: Final = r"[1-9]\d{0,2}(?:,\d{3})+"
_WITH_POINT: Final = re.compile(rf"(?<![\d.,]){_GROUPED}\.\d+(?![\d,])")
# What may be one number among arguments: 1,5 or 1 234,5 or 1,234,567.8 or 1.234,5.
_ONE_NUMBER: Final = re.compile(
    rf"(?<![\d.,])(?:{_GROUPED}(?:\.\d+)?|\d+(?:[ '_]\d{{3}})*,\d+|\d{{1,3}}(?:\.\d{{3}})+,\d+)(?![\d.])"
)
_SEPARATED: Final = re.compile(r",\s|\s,")
# Arguments that are whole numbers: all of a date and a time, and the digits to which a result is rounded.
_OF_WHOLE: Final = re.compile(r"\b(?:date|time)\s*\([^()]*\)?")
_DIGITS: Final = re.compile(
    r"(\bround\((?:[^(),]|\([^()]*\))*[-+*/)](?:[^(),]|\([^()]*\))*),\s*\d+\s*(?=\)|$)"
)


@frozen
class Token:
    """A part of the text; `value` is that of a number, date or time."""

    kind: str  # "value", "name", "sign" or "end"
    text: str
    value: Value = Fraction()


END: Final = Token("end", "the end")


def tokens_of(text: str) -> list[Token]:
    """The tokens, END last. Raises ToolError (EXPRESSION_INVALID, DATE_INVALID)."""
    return [*_tokens(_plain(text)), END]


def invalid(why: str, form: str = "(31 + 4) * 12") -> ToolError:
    """The error for a text that is no expression, with a form that is one."""
    return ToolError(f"cannot compute this: {why}; write for example {form}", reason="EXPRESSION_INVALID")


def _plain(text: str) -> str:
    """The text with one spelling for each operator, and without currency signs."""
    text = text.translate(_SPELLINGS).lower()
    marks = ((character, unicodedata.category(character)) for character in text)
    text = "".join(" " if kind == "Zs" else "" if kind == "Sc" else mark for mark, kind in marks)
    for pattern, spelling in _PROGRAMS:
        text = pattern.sub(spelling, text)
    return text.strip().rstrip("=").rstrip()


def _tokens(text: str) -> Iterator[Token]:
    calls: list[bool] = []  # for each open parenthesis, whether it belongs to a function
    before = ""
    begin = place = 0
    while place < len(text):
        among = True in calls and ";" not in text
        match = (_AMONG_ARGUMENTS if among else _OUTSIDE).match(text, place)
        if match is None:
            raise invalid(f"{text[place : place + 20].strip()!r} is not understood")
        kind = str(match.lastgroup)
        found = match[kind]
        if found in ("(", "["):
            calls.append(before == "name" or found == "[")
            if calls.count(True) == 1 and calls[-1] and ";" not in text:
                _check_commas(text[begin : match.end()] + _inside(text, match.end()))
        elif found in (")", "]") and calls:
            calls.pop()
        yield Token(kind, found) if kind in ("name", "sign") else Token("value", found, _value(kind, found))
        before, begin, place = kind, match.start(kind), match.end()


def _value(kind: str, text: str) -> Value:
    if kind == "number":
        return _number(text)
    parts = [int(part) for part in re.findall(r"\d+", text)]
    if kind in ("clock", "hours"):
        return Span(Fraction(sum(map(mul, parts, CLOCK_UNITS))), MINUTE)
    if kind == "iso":
        return moment(*parts)
    first, second, year = parts
    if kind == "dotted" or (kind == "slashed" and first > MONTHS):
        return moment(year, second, first)
    if kind == "slashed" and second > MONTHS:
        return moment(year, first, second)
    raise invalid(f"{text} can be read in two ways", "date(2026,3,10)")


def _number(text: str) -> Fraction:
    mantissa, _, exponent = text.rstrip(".").partition("e")
    if _AMBIGUOUS.fullmatch(mantissa):
        plain, decimal = mantissa.replace(",", ""), float(mantissa.replace(",", "."))
        raise invalid(f"{mantissa} can be read in two ways", f"{plain} or {decimal}")
    try:
        return bounded(Fraction(plain_numeral(mantissa)) * Fraction(10) ** int(exponent or 0))
    except ValueError:
        raise invalid(f"{mantissa} is no number", "1234.5") from None


def _inside(text: str, start: int) -> str:
    """The text up to the parenthesis that closes the one before `start`."""
    depth = 1
    for place in range(start, len(text)):
        depth += (text[place] in "([") - (text[place] in ")]")
        if not depth:
            return text[start:place]
    return text[start:]


def _check_commas(call: str) -> None:
    """Refuses commas that may be part of a number or separate arguments. Where a comma has a blank beside it, one without
    may be decimal; where none has, the commas separate. `call` has the function's name and no closing parenthesis."""
    numbers = _ONE_NUMBER if _SEPARATED.search(call) else _WITH_POINT
    found = numbers.search(_DIGITS.sub(r"\1", _OF_WHOLE.sub("", call)))
    if found:
        several = ", ".join(found[0].split(","))
        raise invalid(
            f"{found[0]} may be one number or several",
            f"{plain_numeral(found[0])} for one, {several} for several, with a space after each comma",
        )
