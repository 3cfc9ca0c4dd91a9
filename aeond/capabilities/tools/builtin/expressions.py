"""Arithmetic as people write it, read by recursive descent and computed while reading.

    sum      = product { ("+" | "-") product }
    product  = signed { ("*" | "/" | "//" | "%" | "of") signed }
    signed   = { "+" | "-" } power
    power    = percent [ ("**" | "^") signed ]
    percent  = atom { "%" }
    atom     = number | constant | function "(" sum { "," sum } ")" | "(" sum ")"

A % before a number, a name or a parenthesis is the remainder; anywhere else it is percent. Adding or
taking off a bare percentage means that share of what stands before it, as on a pocket calculator.
"""

import re
from fractions import Fraction
from typing import Final, NamedTuple

from aeond.capabilities.tools.builtin.arithmetic import (
    CONSTANTS,
    FUNCTIONS,
    bounded,
    divide,
    floor_divide,
    power,
    remainder,
)
from aeond.errors import ToolError

MAX_CHARS: Final = 500
MAX_NESTING: Final = 40

# How keyboards and word processors spell the operators.
_SPELLINGS: Final = str.maketrans(
    {
        "\N{MULTIPLICATION SIGN}": "*",
        "\N{MIDDLE DOT}": "*",
        "\N{DIVISION SIGN}": "/",
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
    }
)
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3}(?!\d))?)|(?P<name>[a-z_][a-z0-9_]*)"
    r"|(?P<sign>\*\*|//|[-+*/%^(),]))",
    re.ASCII,
)
_CALL: Final = re.compile(r"[a-z_]\s*\(")
_THOUSANDS: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])", re.ASCII)


class _Token(NamedTuple):
    kind: str  # "number", "name", "sign" or "end"
    text: str


class _Term(NamedTuple):
    value: Fraction
    percentage: bool = False  # whether it was written as a number of percent and nothing else


def evaluate(text: str) -> Fraction:
    """The value of an expression of at most MAX_CHARS.

    Raises ToolError: EXPRESSION_INVALID with what could not be read, UNKNOWN_NAME, DIVISION_BY_ZERO,
    NUMBER_TOO_LARGE, NOT_A_NUMBER.
    """
    if len(text) > MAX_CHARS:
        raise _invalid(f"an expression has at most {MAX_CHARS} characters")
    return _Reading(_tokens(text)).whole()


def _tokens(text: str) -> list[_Token]:
    text = text.translate(_SPELLINGS).lower().strip().rstrip("=").rstrip()
    if not _CALL.search(text):  # among the arguments of a function a comma stands between numbers
        text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    tokens = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise _invalid(f"cannot read {text[place : place + 20].strip()!r}")
        kind = str(match.lastgroup)
        tokens.append(_Token(kind, match[kind]))
        place = match.end()
    return [*tokens, _Token("end", "the end")]


class _Reading:
    """One pass over the tokens of an expression."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._nesting = 0

    def whole(self) -> Fraction:
        value = self._sum()
        if self._token.kind != "end":
            raise _invalid(f"did not expect {self._token.text!r}")
        return value

    @property
    def _token(self) -> _Token:
        return self._tokens[self._place]

    def _take(self, *texts: str) -> str:
        """The text of the current token if it is one of these, which is then behind us; else nothing."""
        token = self._token
        if token.kind in ("sign", "name") and token.text in texts:
            self._place += 1
            return token.text
        return ""

    def _sum(self) -> Fraction:
        value = self._product().value
        while sign := self._take("+", "-"):
            term = self._product()
            amount = value * term.value if term.percentage else term.value
            value = bounded(value + amount if sign == "+" else value - amount)
        return value

    def _product(self) -> _Term:
        term = self._signed()
        while sign := self._take("*", "/", "//", "%", "of"):
            right = self._signed().value
            if sign == "/":
                value = divide(term.value, right)
            elif sign == "//":
                value = floor_divide(term.value, right)
            elif sign == "%":
                value = remainder(term.value, right)
            else:
                value = bounded(term.value * right)
            term = _Term(value)
        return term

    def _signed(self) -> _Term:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        term = self._power()
        return _Term(-term.value, term.percentage) if negative else term

    def _power(self) -> _Term:
        term = self._percent()
        if not self._take("**", "^"):
            return term
        self._descend()
        value = power(term.value, self._signed().value)
        self._nesting -= 1
        return _Term(value)

    def _percent(self) -> _Term:
        term = _Term(self._atom())
        while self._token.text == "%" and not self._operand_follows():
            self._place += 1
            term = _Term(term.value / 100, percentage=True)
        return term

    def _operand_follows(self) -> bool:
        following = self._tokens[self._place + 1]
        return (
            following.kind == "number"
            or (following.kind == "name" and following.text != "of")
            or following.text == "("
        )

    def _atom(self) -> Fraction:
        token = self._token
        self._place += 1
        if token.kind == "number":
            return bounded(Fraction(token.text))
        if token.text == "(":
            return self._inside()[0]
        if token.kind == "name" and token.text in CONSTANTS:
            return CONSTANTS[token.text]
        if token.kind == "name" and token.text in FUNCTIONS:
            return self._called(token.text)
        if token.kind == "name":
            known = ", ".join([*FUNCTIONS, *CONSTANTS])
            raise ToolError(f"unknown name {token.text[:40]!r}; known are {known}", reason="UNKNOWN_NAME")
        raise _invalid(f"expected a number, got {token.text!r}")

    def _called(self, name: str) -> Fraction:
        if not self._take("("):
            raise _invalid(f"{name} needs its arguments in parentheses")
        values = self._inside()
        fewest, most, function = FUNCTIONS[name]
        if not fewest <= len(values) <= most:
            raise _invalid(f"{name} takes {fewest} to {most} arguments, got {len(values)}")
        return function(values)

    def _inside(self) -> list[Fraction]:
        """The values between an opening parenthesis, which is behind us, and the closing one."""
        self._descend()
        values = [self._sum()]
        while self._take(","):
            values.append(self._sum())
        if not self._take(")"):
            raise _invalid(f"expected a closing parenthesis, got {self._token.text!r}")
        self._nesting -= 1
        return values

    def _descend(self) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise _invalid(f"an expression nests at most {MAX_NESTING} deep")


def _invalid(why: str) -> ToolError:
    return ToolError(f"cannot compute this: {why}", reason="EXPRESSION_INVALID")
