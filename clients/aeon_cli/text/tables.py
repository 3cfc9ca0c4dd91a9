"""Prints lists as columns, or as two lines per item if the columns do not fit."""

import sys
from collections.abc import Sequence

from aeon_cli.text.printable import fit, one_line, width_of
from aeon_cli.text.terminals import look_at

_GAP = "  "
# Below this width the last column is too narrow to be useful.
_LEAST_LAST = 20


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, nothing: str = "") -> None:
    """Prints rows under headings on standard output; the last column takes the remaining width.

    A pipe receives every cell in full, in columns and without headings. If there are no rows, prints
    `nothing` on standard error.
    """
    terminal = look_at(sys.stdout)
    cells = [[one_line(cell) for cell in row] for row in rows]
    shown = [list(headings), *cells] if terminal.live else cells
    if not cells:
        if nothing:
            print(nothing, file=sys.stderr)
        return
    widths = [max(width_of(row[index]) for row in shown) for index in range(len(headings) - 1)]
    fixed = sum(widths) + len(_GAP) * len(widths)
    if not terminal.live:
        _print_columns(cells, widths, last_width=0)
    elif terminal.columns - fixed >= _LEAST_LAST:
        _print_columns(shown, widths, last_width=terminal.columns - fixed)
    else:
        _print_pairs(cells, terminal.columns)


def _print_columns(rows: Sequence[Sequence[str]], widths: Sequence[int], *, last_width: int) -> None:
    for row in rows:
        padded = [cell + " " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=False)]
        last = fit(row[-1], last_width) if last_width else row[-1]
        print(_GAP.join([*padded, last]).rstrip())


def _print_pairs(rows: Sequence[Sequence[str]], columns: int) -> None:
    for row in rows:
        print(fit(_GAP.join(cell for cell in row[:-1] if cell), columns))
        if row[-1]:
            print(_GAP + fit(row[-1], columns - len(_GAP)))
