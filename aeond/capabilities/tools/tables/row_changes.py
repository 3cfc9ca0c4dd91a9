"""Changes of rows by SQL statements over a table in a text file. Rows that a statement leaves alone stay as they are, byte for byte."""

import codecs
import csv
import io
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from aeond.capabilities.tools.calculator.numerals import NUMERAL, decimal_sign
from aeond.capabilities.tools.files.differences import Edit
from aeond.capabilities.tools.tables.cells import Cell, column_cells
from aeond.capabilities.tools.tables.reading import Table, delimiter_of, read_table
from aeond.capabilities.tools.tables.statements import rows_after, shown_cell, table_name
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_STATEMENT_CHARS: Final = 1_000
MAX_SHOWN_ROWS: Final = 3  # in the report
_ENDINGS: Final = (".csv", ".tsv")
_MAX_DECIMALS: Final = 4
# UTF-8, and as spreadsheets on Windows write. Loaded here: a thread with the rights of a user may not be able to read Python.
_CODECS: Final = (codecs.lookup("utf-8"), codecs.lookup("cp1252"))


@frozen
class RowFile:
    """A table with the text that each of its rows has in the file: `raw` holds its lines, the header's first, with the empty ones that
    follow."""

    table: Table
    delimiter: str
    raw: tuple[str, ...]

    @property
    def line_break(self) -> str:
        return "\r\n" if self.raw[0].endswith("\r\n") else "\n"


def row_file(text: str, path: str) -> RowFile | None:
    """The table in the text of a csv or tsv file with a header that names all cells; None for any other text."""
    if PurePosixPath(path).suffix.casefold() not in _ENDINGS or not text.strip():
        return None
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
    return RowFile(table, delimiter, raw) if has_header and fits else None


def change_rows(content: bytes, statements: Sequence[str], path: str) -> Edit:
    """The content after the statements, in turn: each an UPDATE, INSERT or DELETE over the table that has the file's name. Numbers are
    written as the others of their column.

    Raises ToolError: NO_TABLE for a file without a table that has a header, STATEMENT_INVALID where SQLite refuses a statement,
    NOTHING_CHANGED where no row fits one, NOT_TEXT for bytes of an unknown encoding, or a character that the file's has not.
    """
    text, codec = _decoded(content, path)
    notes: list[str] = []
    for statement in statements:
        text, note = _changed(text, statement, path)
        notes.append(note)
    try:
        return Edit(codec.encode(text)[0], "\n".join(notes))
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{path!r:.200} is not UTF-8, and its encoding has no {error.object[error.start : error.end]!r:.50}",
            reason="NOT_TEXT",
            field="changes",
        ) from error


def _decoded(content: bytes, path: str) -> tuple[str, codecs.CodecInfo]:
    for codec in _CODECS:
        try:
            return codec.decode(content)[0], codec
        except UnicodeDecodeError:
            continue
    raise ToolError(f"{path!r:.200} is not a text file", reason="NOT_TEXT", field="path")


def _changed(text: str, statement: str, path: str) -> tuple[str, str]:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    file = row_file(text.removeprefix(mark), path)
    if file is None:
        raise ToolError(
            f"{path!r:.200} is no csv or tsv file with a header; give the lines to replace, remove or add",
            reason="NO_TABLE",
            field="changes",
        )
    rows = rows_after(file.table, table_name(path), statement)
    columns = [*zip(*file.table.rows, strict=True)] or [()] * len(file.table.columns)
    read = [column_cells(column) for column in columns]
    before = [*zip(*read, strict=True)]
    kept: list[str] = [file.raw[0]]
    notes: dict[str, list[str]] = {"before": [], "now": [], "added": [], "removed": []}
    for number, raw in enumerate(file.raw[1:]):
        after = rows.pop(number + 1, None)
        if after is None:
            notes["removed"].append(raw.strip())
        elif after == before[number]:
            kept.append(raw)
        else:
            texts = file.table.rows[number]
            cells = [
                old if cell == was else _written(cell, old, column, others)
                for cell, was, old, column, others in zip(
                    after, before[number], texts, columns, read, strict=True
                )
            ]
            kept.append(_line(cells, file) + _behind(raw))
            notes["before"].append(raw.strip())
            notes["now"].append(kept[-1].strip())
    for row in rows.values():
        cells = [
            _written(cell, "", column, others)
            for cell, column, others in zip(row, columns, read, strict=True)
        ]
        kept[-1] += "" if kept[-1].endswith("\n") else file.line_break
        kept.append(_line(cells, file) + file.line_break)
        notes["added"].append(kept[-1].strip())
    said = "\n".join(f"{what}: {_few(lines)}" for what, lines in notes.items() if lines)
    if not said:
        raise ToolError(
            f"no row of {table_name(path)} fits the statement, or nothing would be another; nothing was changed",
            reason="NOTHING_CHANGED",
            field="changes",
        )
    return mark + "".join(kept), said


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


def _written(cell: Cell, old: str, texts: Sequence[str], cells: Sequence[Cell]) -> str:
    """The cell as its column writes it: a number in the form of all others there, with what stands around the old one."""
    if not isinstance(cell, float | int):
        return "" if cell is None else " ".join(str(cell).split())
    number = _like_others(float(cell), texts, cells)
    around = NUMERAL.search(old)
    return old[: around.start()] + number + old[around.end() :] if around else number


def _like_others(number: float, texts: Sequence[str], cells: Sequence[Cell]) -> str:
    """The number with as many decimals and the same sign before them as all others of its column, if these agree."""
    others = [
        (match.group(), cell)
        for text, cell in zip(texts, cells, strict=True)
        if isinstance(cell, float) and (match := NUMERAL.search(text))
    ]
    for decimals in range(_MAX_DECIMALS + 1) if others else ():
        for sign in ".,":
            is_form = all(_decimal(other, decimals, sign) == text for text, other in others)
            if is_form and round(number, decimals) == number:
                return _decimal(number, decimals, sign)
    comma = any(decimal_sign(text) == "," for text, _ in others)
    return shown_cell(number).replace(".", "," if comma else ".")


def _decimal(number: float, decimals: int, sign: str) -> str:
    return f"{number:.{decimals}f}".replace(".", sign)


def _line(cells: Sequence[str], file: RowFile) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=file.delimiter, lineterminator="").writerow(cells)
    return text.getvalue()


def _behind(raw: str) -> str:
    """The line break of a row, with the empty lines behind it."""
    return raw[len(raw.rstrip("\r\n")) :]


def _few(lines: Sequence[str]) -> str:
    more = len(lines) - MAX_SHOWN_ROWS
    return "\n".join([*lines[:MAX_SHOWN_ROWS], *([f"and {more} more rows"] if more > 0 else [])])
