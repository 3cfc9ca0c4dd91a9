"""One table of the rows of several files with the same columns, such as a file for each month."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from aeond.capabilities.tools.tables.reading import MAX_ROWS, Table
from aeond.capabilities.tools.tables.statements import without_texts
from aeond.errors import ToolError

EVERY_FILE: Final = "every_file"
"""The name of that table in statements."""
FILE_COLUMNS: Final = ("file", "in_file")
"""The column that says where a row stands; the second if the files have the first."""
_NAMED: Final = re.compile(rf"\b{EVERY_FILE}\b", re.IGNORECASE)


def names_every_file(statement: str) -> bool:
    """Whether the statement is over the table of all files."""
    return _NAMED.search(without_texts(statement)) is not None


def joined(tables: Mapping[str, Table]) -> Table:
    """The rows of these tables, which have the same columns, by their paths: each with the name of its file before it. Raises ToolError
    (TABLE_TOO_LARGE) where there are more than MAX_ROWS, and (QUERY_INVALID) where below like headers one has other columns."""
    first, *others = tables.values()
    if any(len(other.columns) != len(first.columns) for other in others):
        raise ToolError("the files have different columns", reason="QUERY_INVALID", field="query")
    rows = tuple((PurePosixPath(path).stem, *row) for path, table in tables.items() for row in table.rows)
    if len(rows) > MAX_ROWS:
        raise ToolError(f"the files have more than {MAX_ROWS} lines", reason="TABLE_TOO_LARGE", field="query")
    name = FILE_COLUMNS[FILE_COLUMNS[0] in map(str.casefold, first.columns)]
    return replace(first, columns=(name, *first.columns), rows=rows)
