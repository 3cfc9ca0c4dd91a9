"""Rows of a csv or tsv file with a header."""

import csv
import io
from collections.abc import Sequence

from aeond.capabilities.tools.tables.cells import Cell, cells_of
from aeond.capabilities.tools.tables.reading import Table, delimiter_of, read_table
from aeond.capabilities.tools.tables.rows.column_form import ColumnForm
from aeond.errors import ToolError
from aeond.frozen import frozen


@frozen
class DelimitedRows:
    """A RowFile. Its header and its rows are the lines of the file, with the empty ones that follow."""

    table: Table
    delimiter: str
    header: str
    rows: tuple[str, ...]

    @property
    def beside(self) -> Sequence[str]:
        return ()

    @property
    def cells(self) -> Sequence[Sequence[Cell]]:
        return cells_of(self.table.rows, len(self.table.columns))

    def plain(self, statement: str) -> str:
        return statement

    @property
    def written(self) -> Sequence[Sequence[str]]:
        return self.table.rows

    def changed(self, number: int, cells: Sequence[Cell], columns: Sequence[ColumnForm]) -> str:
        texts = [
            old if cell == column.cells[number] else column.text(cell, old)
            for cell, old, column in zip(cells, self.table.rows[number], columns, strict=True)
        ]
        raw = self.rows[number]
        return self._line(texts) + raw[len(raw.rstrip("\r\n")) :]

    def new(self, cells: Sequence[Cell], columns: Sequence[ColumnForm]) -> str:
        texts = [column.text(cell) for cell, column in zip(cells, columns, strict=True)]
        return self._line(texts) + self._line_break

    def joined(self, rows: Sequence[str | None], added: Sequence[str]) -> str:
        text = "".join([self.header, *(row for row in rows if row is not None)])
        between = self._line_break if added and not text.endswith("\n") else ""
        return "".join([text, between, *added])

    @property
    def _line_break(self) -> str:
        return "\r\n" if self.header.endswith("\r\n") else "\n"

    def _line(self, cells: Sequence[str]) -> str:
        text = io.StringIO()
        csv.writer(text, delimiter=self.delimiter, lineterminator="\r\n").writerow(
            cells
        )  # quotes cells with these
        return text.getvalue().removesuffix("\r\n")


def delimited_rows(text: str) -> DelimitedRows | None:
    """The rows below a header that names all cells; None for a text without one."""
    lines = list(io.StringIO(text, newline=""))  # as the reader of tables does
    delimiter = delimiter_of([line for line in lines if line.strip()])
    if delimiter in ("", "|"):
        return None
    try:
        table = read_table(text)
        raw, widths, header = _rows_of(lines, delimiter)
    except (ToolError, csv.Error):
        return None
    has_header = [*table.columns] == [" ".join(cell.split()) for cell in header]
    fits = len(raw) == len(table.rows) + 1 and widths[0] == max(widths)
    return DelimitedRows(table, delimiter, raw[0], raw[1:]) if has_header and fits else None


def _rows_of(lines: Sequence[str], delimiter: str) -> tuple[tuple[str, ...], Sequence[int], Sequence[str]]:
    """The text of each row, with the empty lines behind it, their numbers of cells, and the cells of the first one. Empty lines above it
    belong to it."""
    reader = csv.reader(lines, delimiter=delimiter)
    raw: list[str] = []
    widths: list[int] = []
    header: Sequence[str] = ()
    begin, above = 0, ""
    for cells in reader:
        text = "".join(lines[begin : reader.line_num])
        begin = reader.line_num
        if any(cell.strip() for cell in cells):
            header = header or cells
            raw.append(above + text)
            widths.append(len(cells))
            above = ""
        elif raw:
            raw[-1] += text
        else:
            above += text
    return tuple(raw), widths, header
