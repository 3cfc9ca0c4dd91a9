"""Reads the cells of a column as numbers or texts."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from aeond.capabilities.tools.calculator.numerals import decimal_sign, first_number

Cell = str | int | float | None

_LEADING_ZERO: Final = re.compile(r"0\d")
_DAY: Final = re.compile(r"\d{1,2}\.\d{1,2}\.")  # day and month, as in 3.10.
_DOTTED: Final = re.compile(r"\d+(?:\.\d+)*", re.ASCII)
_CODE_DIGITS: Final = 12  # of the codes of goods and books, which have 12 to 14
_EXACT_DIGITS: Final = 15  # a float holds all numbers of so many digits
_SIGNS_SWAPPED: Final = str.maketrans(".,", ",.")


def column_cells(texts: Sequence[str]) -> list[Cell]:
    """The cells of one column: numbers where they are numbers, such as "1.280,50" or "12 %", None where they are empty.

    Codes with a leading zero, dates, times, versions and long codes are texts. A cell such as "1,20" makes the comma the decimal
    sign of the whole column, unless another cell contradicts it.
    """
    numerals = {text for text in texts if text and not _has_form_of_text(text)}
    comma = {decimal_sign(text) for text in numerals} - {""} == {","}
    numbers = {text: first_number(text.translate(_SIGNS_SWAPPED) if comma else text) for text in numerals}
    if None in numbers.values() and all(_DOTTED.fullmatch(text) for text in texts if text):
        numerals = set()  # a version such as 1.10.2: 1.10 is another than 1.1
    numerals -= _codes(numerals)
    read: dict[str, Cell] = {"": None}
    for text in numerals:
        number = numbers[text]
        if number is not None and abs(number) < 10**_EXACT_DIGITS:
            read[text] = float(number)
    return [read.get(text, text) for text in texts]


def cells_of(rows: Sequence[Sequence[str]], columns: int) -> list[list[Cell]]:
    """The cells of each of so many columns of the rows, which may be none."""
    return [column_cells(texts) for texts in zip(*rows, strict=True)] or [[] for _ in range(columns)]


def _has_form_of_text(text: str) -> bool:
    return any(map(str.isalpha, text)) or bool(_LEADING_ZERO.match(text) or _DAY.fullmatch(text))


def _codes(numerals: Collection[str]) -> set[str]:
    """The cells of digits alone, where they are codes: all of the same length, or too long for a number.

    Others are amounts, such as sizes in bytes, and texts of different lengths would be sorted wrongly.
    """
    digits = {text for text in numerals if text.isascii() and text.isdigit()}
    lengths = {len(text) for text in digits}
    same = len(lengths) == 1 and min(lengths) >= _CODE_DIGITS
    return digits if same or max(lengths, default=0) > _EXACT_DIGITS else set()
