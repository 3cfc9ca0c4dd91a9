"""How a column writes its cells: the decimals of its numbers, the sign before them, and what stands around them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from aeond.capabilities.tools.calculator.numerals import SIGNED_NUMERAL, decimal_sign
from aeond.capabilities.tools.tables.cells import Cell
from aeond.capabilities.tools.tables.statements import shown_cell

_MAX_DECIMALS: Final = 4


class ColumnForm:
    """A column by its texts, and by the cells that were read from them."""

    def __init__(self, texts: Sequence[str], cells: Sequence[Cell]) -> None:
        self._texts = texts
        self.cells = cells

    def text(self, cell: Cell, old: str = "") -> str:
        """The cell as the column writes it: a number in the form of all others there, with what stands around the old one."""
        if not isinstance(cell, float | int):
            return "" if cell is None else " ".join(str(cell).split())
        number = self.number(cell)
        around = SIGNED_NUMERAL.search(old)
        return old[: around.start()] + number + old[around.end() :] if around else number

    def number(self, cell: float) -> str:
        """The number with as many decimals and the same sign before them as all others of the column, if these agree."""
        number = float(cell)
        if self._form is not None and round(number, self._form[0]) == number:
            return _decimal(number, *self._form)
        return shown_cell(number).replace(".", "," if self._has_comma else ".")

    @cached_property
    def _has_comma(self) -> bool:
        return any(decimal_sign(text) == "," for text, _ in self._numbers)

    @cached_property
    def _numbers(self) -> Sequence[tuple[str, float]]:
        return [
            (match.group(), cell)
            for text, cell in zip(self._texts, self.cells, strict=True)
            if isinstance(cell, float) and (match := SIGNED_NUMERAL.search(text))
        ]

    @cached_property
    def _form(self) -> tuple[int, str] | None:
        """The decimals of all numbers, and the sign before them."""
        for decimals in range(_MAX_DECIMALS + 1) if self._numbers else ():
            for sign in ".,":
                if all(_decimal(cell, decimals, sign) == text for text, cell in self._numbers):
                    return decimals, sign
        return None


def _decimal(number: float, decimals: int, sign: str) -> str:
    return f"{number:.{decimals}f}".replace(".", sign)
