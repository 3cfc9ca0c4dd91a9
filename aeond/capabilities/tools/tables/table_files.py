"""The tables in the files of a workspace: which file is meant, what it holds, and the tables of which others a text names."""

import codecs
import csv
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.previews import file_names
from aeond.capabilities.tools.tables.reading import Table, delimiter_of, read_table, table_within
from aeond.capabilities.tools.tables.statements import table_name
from aeond.domain.names import same_form
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_TABLE_BYTES: Final = 8 << 20
MAX_OTHERS: Final = 3
MAX_JOINED: Final = 40  # files with the same columns
MAX_WHOLE_CHARS: Final = 1_500  # of a text that is shown beside what was selected from its table
_TABLES: Final = (".csv", ".tsv")
_ENDINGS: Final = (*_TABLES, ".json")
_WORD: Final = re.compile(r"\w+")
_HEADER_BYTES: Final = 4 << 10
# As spreadsheets on Windows write. Loaded here: a thread with the rights of a user may not be able to read Python.
_WINDOWS: Final = codecs.lookup("cp1252")


@frozen
class TableFiles:
    """Each method raises ToolError for a file that does not exist (FILE_NOT_FOUND) or holds no table."""

    files: ContainedFiles

    def meant(self, path: str, workspace: str) -> str:
        """The path of the one existing file that is meant."""
        if self.files.is_folder(path, workspace) is not None:
            return path
        alike = [name for name in self._names(workspace) if _same_name(name, path)]
        if len(alike) != 1:
            raise ToolError(f"{path!r:.200} does not exist", reason="FILE_NOT_FOUND", field="path")
        return alike[0]

    def table(self, path: str, workspace: str) -> Table:
        """The table in an existing file. Raises ToolError (TABLE_TOO_LARGE, TABLE_EMPTY, NOT_TEXT)."""
        text = self._text(path, workspace)
        if _suffix(path) in _TABLES:
            return read_table(text)
        found = table_within(text, _suffix(path))
        return found if found.plain or len(text) > MAX_WHOLE_CHARS else replace(found, whole=text)

    def others(self, text: str, path: str, workspace: str) -> Sequence[str]:
        """The files besides this one whose tables have a word of the text for a name, at most MAX_OTHERS. Of several with the same name the
        one in the same folder counts, or else the first."""
        words = {word.casefold() for word in _WORD.findall(text)} - {table_name(path).casefold()}
        folder = PurePosixPath(path).parent
        found: dict[str, str] = {}
        for name in sorted(
            tables_in(self._names(workspace)), key=lambda one: PurePosixPath(one).parent != folder
        ):
            if (title := table_name(name).casefold()) in words:
                found.setdefault(title, name)
        return tuple(found.values())[:MAX_OTHERS]

    def with_the_columns_of(self, path: str, workspace: str) -> Sequence[str]:
        """The csv and tsv files of the folder of this one that have its header, itself among them; at most MAX_JOINED."""
        header, folder = self._header(path, workspace), PurePosixPath(path).parent
        siblings = [
            name
            for name in self._names(workspace)
            if _suffix(name) in _TABLES and PurePosixPath(name).parent == folder
        ]
        return [name for name in siblings if header and self._header(name, workspace) == header][:MAX_JOINED]

    def _names(self, workspace: str) -> Sequence[str]:
        return file_names(self.files, workspace, lambda: False)

    def _header(self, path: str, workspace: str) -> Sequence[str]:
        """The cells of the first line of a file; none where it is no table."""
        with suppress(ToolError):
            first = _decoded(self._bytes(path, workspace, _HEADER_BYTES).partition(b"\n")[0]).lstrip("\ufeff")
            if delimiter := delimiter_of([first]):
                cells = next(csv.reader([first], delimiter=delimiter))
                return [" ".join(cell.split()).casefold() for cell in cells]
        return ()

    def _bytes(self, path: str, workspace: str, most: int) -> bytes:
        with self.files.open_file(path, workspace) as opened, os.fdopen(os.dup(opened), "rb") as file:
            return file.read(most)

    def _text(self, path: str, workspace: str) -> str:
        content = self._bytes(path, workspace, MAX_TABLE_BYTES + 1)
        if len(content) > MAX_TABLE_BYTES:
            raise ToolError(
                f"{path!r:.200} has more than {MAX_TABLE_BYTES >> 20} MiB",
                reason="TABLE_TOO_LARGE",
                field="path",
            )
        if b"\0" in content:
            raise ToolError(f"{path!r:.200} is not text", reason="NOT_TEXT", field="path")
        return _decoded(content)


def tables_in(names: Iterable[str]) -> list[str]:
    """Those of the files that may hold a table."""
    return [name for name in names if _suffix(name) in _ENDINGS]


def is_none(table: Table, path: str) -> bool:
    """Whether the table is that of a file which is no table, and holds none."""
    return table.plain and _suffix(path) not in _TABLES


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return _WINDOWS.decode(content, "replace")[0]


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.casefold()


def _same_name(name: str, path: str) -> bool:
    """Whether the file has this name, in whatever folder, case and spacing, with or without its ending."""
    wanted, there = PurePosixPath(path), PurePosixPath(name)
    return same_form(wanted.name, there.name) or (
        there.suffix in _ENDINGS and same_form(wanted.name, there.stem)
    )
