"""Changes of rows by SQL statements over a table in a text file. Rows that a statement leaves alone stay as they are, byte for byte."""

import codecs
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from aeond.capabilities.tools.files.differences import Edit
from aeond.capabilities.tools.tables.rows.column_form import ColumnForm
from aeond.capabilities.tools.tables.rows.delimited_rows import delimited_rows
from aeond.capabilities.tools.tables.rows.json_rows import json_rows
from aeond.capabilities.tools.tables.rows.row_file import RowFile
from aeond.capabilities.tools.tables.statements import rows_after, table_name
from aeond.domain.values import short_line
from aeond.errors import ToolError

MAX_STATEMENT_CHARS: Final = 1_000
MAX_SHOWN_ROWS: Final = 3  # in the report
MAX_ROW_CHARS: Final = 200  # of a row there
_TABLES: Final = (".csv", ".tsv")
_JSON: Final = ".json"
_MARK: Final = "\ufeff"  # of the order of bytes
# UTF-8, and as spreadsheets on Windows write. Loaded here: a thread with the rights of a user may not be able to read Python.
_CODECS: Final = (codecs.lookup("utf-8"), codecs.lookup("cp1252"))


def row_file(text: str, path: str) -> RowFile | None:
    """The rows that statements can change in the text of a file: those of a csv or tsv file with a header that names all cells, and those of
    a JSON file with a list of flat objects. None for any other text."""
    text, ending = text.removeprefix(_MARK), PurePosixPath(path).suffix.casefold()
    if not text.strip():
        return None
    if ending == _JSON:
        return json_rows(text)
    return delimited_rows(text) if ending in _TABLES else None


def change_rows(content: bytes, statements: Sequence[str], path: str) -> Edit:
    """The content after the statements, in turn: each an UPDATE, INSERT or DELETE over the table that has the file's name. Numbers are
    written as the others of their column, also where a statement before has removed all of these.

    Raises ToolError: NO_TABLE for a file without rows that `row_file` knows, STATEMENT_INVALID where SQLite refuses a statement,
    NOTHING_CHANGED where no row fits one, NOT_TEXT for bytes of an unknown encoding, or a character that the file's has not.
    """
    text, codec = _decoded(content, path)
    notes: list[str] = []
    emptied: RowFile | None = None
    for statement in statements:
        text, note, emptied = _changed(text, statement, path, emptied)
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


def _changed(
    text: str, statement: str, path: str, emptied: RowFile | None
) -> tuple[str, str, RowFile | None]:
    """The text after the statement, the report, and the file as it last had rows if now it has none: a table without rows may no longer
    be recognized as one."""
    file = emptied or row_file(text, path)
    if file is None:
        raise ToolError(
            f"{path!r:.200} has no rows that statements can change; give the lines to replace, remove or add",
            reason="NO_TABLE",
            field="changes",
        )
    columns = _columns_of(file)
    read = [column.cells for column in columns]
    after = rows_after(file.table, table_name(path), file.plain(statement), read, emptied=emptied is not None)
    before = [*zip(*read, strict=True)]
    rows: list[str | None] = [None] * len(file.rows)
    notes: dict[str, list[str]] = {"before": [], "now": [], "added": [], "removed": []}
    for number, row in enumerate(() if emptied else file.rows):
        cells = after.pop(number + 1, None)
        if cells is None:
            notes["removed"].append(row)
        elif cells == before[number]:
            rows[number] = row
        else:
            rows[number] = changed = file.changed(number, cells, columns)
            notes["before"].append(row)
            notes["now"].append(changed)
    notes["added"] = [file.new(cells, columns) for cells in after.values()]
    now = file.joined(rows, notes["added"])
    mark = _MARK if text.startswith(_MARK) else ""
    if mark + now == text:
        raise ToolError(
            f"no row of {table_name(path)} fits the statement, or nothing would be another; nothing was changed",
            reason="NOTHING_CHANGED",
            field="changes",
        )
    report = "\n".join(f"{what}: {_few(lines)}" for what, lines in notes.items() if lines)
    return mark + now, report, None if notes["added"] or any(rows) else file


def _columns_of(file: RowFile) -> Sequence[ColumnForm]:
    written: Sequence[Sequence[str]] = [*zip(*file.written, strict=True)] or [()] * len(file.table.columns)
    return [ColumnForm(texts, cells) for texts, cells in zip(written, file.cells, strict=True)]


def _few(rows: Sequence[str]) -> str:
    more = len(rows) - MAX_SHOWN_ROWS
    return "\n".join([*map(_shown, rows[:MAX_SHOWN_ROWS]), *([f"and {more} more rows"] if more > 0 else [])])


def _shown(row: str) -> str:
    """The row on one line, as it is if it is one."""
    line = row.strip()
    is_short = "\n" not in line and len(line) <= MAX_ROW_CHARS
    return line if is_short else short_line(line, MAX_ROW_CHARS)
