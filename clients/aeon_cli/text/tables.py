"""Prints lists as columns, or as two lines per item if the columns do not fit."""

import sys
from collections.abc import Iterator, Sequence

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
    if not cells:
        if nothing:
            print(nothing, file=sys.stderr)
    elif terminal.live:
        print("\n".join(table_lines(headings, cells, terminal.columns)))
    else:
        print("\n".join(_columns(cells, _widths(cells), last_width=0)))


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], columns: int) -> list[str]:
    """The rows under their headings as lines of at most that many cells; two lines a row, without headings, if the last
    column would be too narrow.
    """
    shown = [headings, *rows]
    widths = _widths(shown)
    left = columns - sum(widths) - len(_GAP) * len(widths)
    if left >= _LEAST_LAST:
        return list(_columns(shown, widths, last_width=left))
    return list(_pairs(rows, columns))


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(width_of, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]


def _columns(rows: Sequence[Sequence[str]], widths: Sequence[int], *, last_width: int) -> Iterator[str]:
    for row in rows:
        padded = [cell + " " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=False)]
        last = fit(row[-1], last_width) if last_width else row[-1]
        yield _GAP.join([*padded, last]).rstrip()


def _pairs(rows: Sequence[Sequence[str]], columns: int) -> Iterator[str]:
    for row in rows:
        yield fit(_GAP.join(cell for cell in row[:-1] if cell), columns)
        if row[-1]:
            yield _GAP + fit(row[-1], columns - len(_GAP))
