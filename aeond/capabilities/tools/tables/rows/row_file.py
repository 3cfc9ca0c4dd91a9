"""A file of rows: the table in it, and how the file writes each row."""

from collections.abc import Sequence
from typing import Protocol

from aeond.capabilities.tools.tables.cells import Cell
from aeond.capabilities.tools.tables.reading import Table
from aeond.capabilities.tools.tables.rows.column_form import ColumnForm


class RowFile(Protocol):
    """The text of a file in pieces of which each row is one."""

    @property
    def table(self) -> Table: ...

    @property
    def beside(self) -> Sequence[str] | None:
        """The lines of single values that the file has besides its rows; None if rows stand on them, too."""
        ...

    @property
    def cells(self) -> Sequence[Sequence[Cell]]:
        """The cells of each column, as statements read them."""
        ...

    def plain(self, statement: str) -> str:
        """The statement as it is meant for these cells."""
        ...

    @property
    def rows(self) -> Sequence[str]:
        """The text of each row in the file."""
        ...

    @property
    def written(self) -> Sequence[Sequence[str]]:
        """The cells of each row as the file writes them."""
        ...

    def changed(self, number: int, cells: Sequence[Cell], columns: Sequence[ColumnForm]) -> str:
        """The text of the row with this number from 0 with these cells in it; the equal ones stay as they are."""
        ...

    def new(self, cells: Sequence[Cell], columns: Sequence[ColumnForm]) -> str:
        """The text of a new row, in the form of the others."""
        ...

    def joined(self, rows: Sequence[str | None], added: Sequence[str]) -> str:
        """The text of the file with these rows, None for one that is removed, and with the new ones behind them. Raises ToolError
        (FORMAT_BROKEN) if it would be no such file."""
        ...
