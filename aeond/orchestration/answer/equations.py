"""Corrects the equations that an answer writes out: a small model reads numbers rightly and adds them up wrongly."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from aeond.domain.names import GROUPING, POINTED, between_groups
from aeond.domain.values import JsonValue, mapped

Computes = Callable[[str], int | float | str | None]
"""Returns the value of an expression as the calculator shows it, None for what it cannot compute."""

MAX_EQUATIONS: Final = 20


# A whole one, without a possessive group, which Python 3.11.2 matches wrongly.
_NUMERAL: Final = r"\d+(?:[.,:]\d+)*(?![.,:]?\d)"
_UNIT: Final = r"(?:\s?[^\W\d_]{1,12}\.?(?:[ /][^\W\d_]{1,12}){0,2}|\s?[€$£%°])?"
_OPERAND: Final = rf"\(*\s*[€$£]?\s?{_NUMERAL}{_UNIT}\s*\)*"
_OPERATOR: Final = r"\s*[-+*/\u00d7\u00b7\u00f7\u2212\u2013]\s*"
_EQUATION: Final = re.compile(
    rf"({_OPERAND}(?:{_OPERATOR}{_OPERAND})+)\s*=\s*[€$£]?\s?({_NUMERAL})(?=(\s?[^\W\d_]*))(?!\s?%)"
)
_WHOLE_NUMERAL: Final = re.compile(rf"(?<![\w.,:]){_NUMERAL}(?![\w:]|[.,]\d)")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LETTERS: Final = re.compile(r"[^\W\d_]+\.?|[€$£°]")
_OPERATORS: Final = str.maketrans("\u00d7\u00b7\u00f7\u2212\u2013", "**/--")
_CLOCK: Final = re.compile(r"\d+:\d\d")
_DECIMAL_COMMA: Final = re.compile(r"\d,\d{1,2}(?!\d)")
_GROUPED: Final = between_groups(GROUPING)
_DECIMALS: Final = 2
_INEXACT: Final = 1e-9


def computes_nothing(_expression: str) -> None:
    """Leaves every equation as it is."""


def corrected(text: str, compute: Computes) -> str:
    """The text with the right value wherever an equation of numbers has a wrong one, there and in what the text says beside and after
    it. A value that was rounded stays, and so does an equation with different units, or one that gives a percentage."""
    wrong: dict[str, str] = {}  # the right value by the wrong one
    beside: list[str] = []  # the texts around the equations
    equations: list[str] = []
    end = 0
    for found in list(_EQUATION.finditer(text))[:MAX_EQUATIONS]:
        expression, given = _with(wrong, found.group(1)), found.group(2)
        units = {unit for part in (expression, found.group(3)) for unit in _WORD.findall(part)}
        right = _right(expression, given, compute) if len(units) <= 1 else ""
        if right and given not in re.findall(_NUMERAL, expression):
            wrong[given] = right
        beside.append(text[end : found.start()])
        equations.append(expression + text[found.end(1) : found.start(2)] + (right or given))
        end = found.end()
    parts = [
        part for pair in zip((_with(wrong, one) for one in beside), equations, strict=True) for part in pair
    ]
    return "".join([*parts, _with(wrong, text[end:])])


def _with(values: Mapping[str, str], text: str) -> str:
    """The text with other values for its numerals."""
    return _WHOLE_NUMERAL.sub(lambda found: values.get(found.group(), found.group()), text)


def _right(expression: str, given: str, compute: Computes) -> str:
    """The value of the expression, written as the given one; "" if that is right or cannot be judged."""
    value = compute(_LETTERS.sub("", expression).translate(_OPERATORS).strip())
    if isinstance(value, str) or ":" in given:
        clock = str(value)
        return clock if _CLOCK.fullmatch(clock) and _CLOCK.fullmatch(given) and clock != given else ""
    shown = _readings(given)
    if value is None or not shown or _is_one_of(abs(value), shown):
        return ""
    comma = _DECIMAL_COMMA.search(f"{expression} {given}") is not None
    # A span of years is written from the earlier one to the later.
    plain = f"{abs(value):.{_DECIMALS}f}".rstrip("0").rstrip(".")
    return plain.replace(".", ",") if comma else plain


def evaluated(value: JsonValue, compute: Computes, kept: str) -> JsonValue:
    """A value that is to be written, with the right result alone in place of every equation of numbers in its texts: the calculation is a small model's
    own. Those that stand in the text `kept` are wanted, or were there before."""

    def result(found: re.Match[str]) -> str:
        equation = found.group()
        if equation.strip() in kept:
            return equation
        space = equation[: len(equation) - len(equation.lstrip())]
        return space + corrected(equation, compute).rpartition("=")[2].lstrip()

    return mapped(value, lambda text, _: _EQUATION.sub(result, text))


def states(text: str, result: str) -> bool:
    """Whether the text has every number of the result, perhaps rounded."""
    shown = [one for numeral in re.findall(_NUMERAL, text) for one in _readings(numeral)]
    wanted = [one for numeral in re.findall(_NUMERAL, result) for one, _ in _readings(numeral)[:1]]
    return bool(text) and all(_is_one_of(one, shown) for one in wanted)


def numbers_in(text: str) -> frozenset[float]:
    """The numbers in the text, in each way in which their decimal and grouping signs can be read."""
    numerals = re.findall(_NUMERAL, _GROUPED.sub("", text))
    return frozenset(one for numeral in numerals for one, _ in _readings(numeral))


def _is_one_of(value: float, shown: Sequence[tuple[float, int]]) -> bool:
    """Whether a number with so many decimals is this value, perhaps rounded."""
    return any(abs(one - value) <= 0.5 * 10**-decimals + _INEXACT for one, decimals in shown)


def _readings(numeral: str) -> list[tuple[float, int]]:
    """What a numeral may stand for, each with the number of its decimals: a comma or point is a decimal one, or groups thousands."""
    forms = [numeral.replace(",", "."), numeral.replace(",", "")]
    if "," in numeral or POINTED.fullmatch(numeral):
        forms.append(numeral.replace(".", "").replace(",", "."))
    found = []
    for plain in forms:
        with suppress(ValueError):
            found.append((float(plain), len(plain.partition(".")[2])))
    return found
