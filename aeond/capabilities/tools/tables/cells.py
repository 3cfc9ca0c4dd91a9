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
_MAX_EXTREME_COLUMNS: Final = 4
_MAX_NAMED_ROWS: Final = 3  # that have the same extreme value
_NAMING_CELLS: Final = 2  # of a row, which say which one it is
_MAX_NAMING_CHARS: Final = 40
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


def highest_and_lowest(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The highest and the lowest number of the first columns of numbers, a line for each, with the first cells of the rows that have it. A small
    model that reads them from the rows itself often takes another one. "" for less than two rows."""
    lines: list[str] = []
    for at, (name, texts) in enumerate(zip(columns, zip(*rows, strict=True), strict=False)):
        cells = column_cells(texts)
        numbers = [cell for cell in cells if isinstance(cell, float)]
        is_of_numbers = len(numbers) > 1 and not any(isinstance(cell, str) for cell in cells)
        if is_of_numbers and len(set(numbers)) > 1 and len(lines) < _MAX_EXTREME_COLUMNS:
            most, least = (_where(extreme(numbers), at, cells, rows) for extreme in (max, min))
            lines.append(f"{name}: highest {most}, lowest {least}")
    return "\n".join(lines)


def _where(number: float, column: int, cells: Sequence[Cell], rows: Sequence[Sequence[str]]) -> str:
    """The number as it is written in the column, and the rows that have it."""
    found = [row for row, cell in zip(rows, cells, strict=True) if cell == number]
    named = [[cell for at, cell in enumerate(row) if at != column and cell][:_NAMING_CELLS] for row in found]
    short = [", ".join(cell[:_MAX_NAMING_CHARS] for cell in naming) for naming in named if naming]
    more = ["..."] if len(short) > _MAX_NAMED_ROWS else []
    rows_named = "; ".join([*short[:_MAX_NAMED_ROWS], *more])
    return f"{found[0][column]} ({rows_named})" if rows_named else found[0][column]


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
