"""Arithmetic as people write it, read by recursive descent and computed while reading.

    sum      = product { ("+" | "-") product }
    product  = signed { ("*" | "/" | "//" | "%" | "of") signed }
    signed   = { "+" | "-" } power
    power    = percent [ ("**" | "^") signed ]
    percent  = measure { "%" }
    measure  = atom [ unit ]
    atom     = number | date | time | constant | function "(" list ")" | "(" sum ")" | "√" atom
    list     = sum { ("," | ";") sum } | "[" list "]"

A % before a number, a name or a parenthesis is the remainder; anywhere else it is percent. Adding or
taking off a bare percentage means that share of the value before it, as on a pocket calculator.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple

from aeond.capabilities.tools.calculator.arithmetic import CONSTANTS, floor_divide, power, remainder
from aeond.capabilities.tools.calculator.functions import (
    FUNCTION_NAMES,
    called,
    form_of,
    is_function,
    is_unit,
    measured,
)
from aeond.capabilities.tools.calculator.tokens import Token, invalid, tokens_of
from aeond.capabilities.tools.calculator.values import (
    Value,
    add,
    moment,
    multiply,
    negative,
    of_numbers,
    quotient,
    subtract,
)
from aeond.errors import ToolError

MAX_CHARS: Final = 500
MAX_NESTING: Final = 40

_OPERATIONS: Final[Mapping[str, Callable[[Value, Value], Value]]] = {
    "*": multiply,
    "of": multiply,
    "/": quotient,
    "//": partial(of_numbers, floor_divide, "divide"),
    "%": partial(of_numbers, remainder, "divide"),
}


class _Term(NamedTuple):
    value: Value
    percentage: bool = False  # whether it was written as a number of percent and nothing else


def evaluate(text: str, now: datetime) -> Value:
    """The value of an expression of at most MAX_CHARS; `now` is the local time of `today` and `now`.

    Raises ToolError: EXPRESSION_INVALID with the part that is not understood, UNKNOWN_NAME, DIVISION_BY_ZERO,
    NUMBER_TOO_LARGE, NOT_A_NUMBER, DATE_INVALID.
    """
    if len(text) > MAX_CHARS:
        raise invalid(f"an expression has at most {MAX_CHARS} characters")
    return _Reading(tokens_of(text), now).whole()


class _Reading:
    """One pass over the tokens of an expression."""

    def __init__(self, tokens: list[Token], now: datetime) -> None:
        self._tokens = tokens
        self._now = now
        self._place = 0
        self._nesting = 0

    def whole(self) -> Value:
        value = self._sum()
        if self._token.kind != "end":
            raise self._not_expected()
        return value

    @property
    def _token(self) -> Token:
        return self._tokens[self._place]

    def _take(self, *texts: str) -> str:
        """The text of the current token if it is one of these, which is then consumed; else nothing."""
        token = self._token
        if token.kind in ("sign", "name") and token.text in texts:
            self._place += 1
            return token.text
        return ""

    def _sum(self) -> Value:
        value = self._product().value
        while sign := self._take("+", "-"):
            term = self._product()
            amount = multiply(value, term.value) if term.percentage else term.value
            value = add(value, amount) if sign == "+" else subtract(value, amount)
        return value

    def _product(self) -> _Term:
        term = self._signed()
        while sign := self._take(*_OPERATIONS):
            term = _Term(_OPERATIONS[sign](term.value, self._signed().value))
        return term

    def _signed(self) -> _Term:
        signs = 0
        while sign := self._take("+", "-"):
            signs += sign == "-"
        term = self._power()
        return _Term(negative(term.value), term.percentage) if signs % 2 else term

    def _power(self) -> _Term:
        term = self._percent()
        if not self._take("**", "^"):
            return term
        self._descend()
        value = of_numbers(power, "raise", term.value, self._signed().value)
        self._nesting -= 1
        return _Term(value)

    def _percent(self) -> _Term:
        term = _Term(self._measure())
        while self._token.text == "%" and not self._operand_follows():
            self._place += 1
            term = _Term(quotient(term.value, Fraction(100)), percentage=True)
        return term

    def _operand_follows(self) -> bool:
        following = self._tokens[self._place + 1]
        return (
            following.kind == "value"
            or (following.kind == "name" and following.text != "of")
            or following.text in ("(", "√")
        )

    def _measure(self) -> Value:
        value = self._atom()
        token = self._token
        follows_call = self._tokens[min(self._place + 1, len(self._tokens) - 1)].text == "("
        if isinstance(value, Fraction) and token.kind == "name" and is_unit(token.text) and not follows_call:
            self._place += 1
            return measured(token.text, value)
        return value

    def _atom(self) -> Value:
        token = self._token
        if token.kind not in ("value", "name") and token.text not in ("(", "√"):
            raise self._not_expected()
        self._place += 1
        if token.kind == "value":
            return token.value
        if token.kind == "name":
            return self._named(token.text)
        if token.text == "√":
            self._descend()
            value = called("sqrt", [self._atom()])
            self._nesting -= 1
            return value
        values = self._inside(")")
        if len(values) > 1:
            raise invalid("these parentheses hold several values", "sum(1, 2)")
        return values[0]

    def _named(self, name: str) -> Value:
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in ("today", "now"):
            if self._take("(") and not self._take(")"):
                raise invalid(f"{name} takes no arguments", f"{name} + days(5)")
            now = self._now
            return moment(now.year, now.month, now.day) if name == "today" else now
        if not is_function(name):
            raise ToolError(
                f"unknown name {name[:40]!r}: write numbers without other words, such as 6.4*100; the names are "
                + ", ".join((*FUNCTION_NAMES, *CONSTANTS, "today", "now")),
                reason="UNKNOWN_NAME",
            )
        if not self._take("("):
            raise invalid(f"{name} needs its arguments in parentheses", form_of(name))
        return called(name, self._inside(")"))

    def _inside(self, closing: str) -> list[Value]:
        """The values between an opening parenthesis, which was consumed, and the closing one."""
        self._descend()
        values: list[Value] = []
        while not values or self._take(",", ";"):
            values += self._inside("]") if self._take("[") else [self._sum()]
        if not self._take(closing):
            raise invalid(f"{closing!r} is missing before {self._token.text!r}", "(2 + 3) * 4")
        self._nesting -= 1
        return values

    def _descend(self) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise invalid(f"an expression nests at most {MAX_NESTING} deep")

    def _not_expected(self) -> ToolError:
        before = f" after {self._tokens[self._place - 1].text!r}" if self._place else ""
        form = "6.4*100, without other words" if self._token.kind == "name" else "(31 + 4) * 12"
        return invalid(f"{self._token.text!r}{before} is not understood", form)
