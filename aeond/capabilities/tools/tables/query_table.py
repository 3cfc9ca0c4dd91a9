"""The query_table tool."""

import codecs
import csv
import io
import os
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.calculator.values import shown
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.path_matching import file_target
from aeond.capabilities.tools.files.previews import file_names
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.tables.queries import Query, answer
from aeond.capabilities.tools.tables.reading import Table, read_table
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.names import nearest, same_form
from aeond.domain.policy import Access, Target
from aeond.domain.tools import Effect, ToolContext
from aeond.errors import ToolError

MAX_TABLE_BYTES: Final = 8 << 20
MAX_SHOWN_ROWS: Final = 50
MAX_SHOWN_CHARS: Final = 16_000
_MAX_PATH_CHARS: Final = 1_000
_MAX_CHARS: Final = 300
# As spreadsheets on Windows write. Loaded here: a thread with the rights of a user may not be able to read Python.
_WINDOWS: Final = codecs.lookup("cp1252")
_TABLES: Final = (".csv", ".tsv")


class QueryTableArguments(BaseModel):
    """The file, and a question in the parts of `Query`."""

    path: Annotated[str, Field(min_length=1, max_length=_MAX_PATH_CHARS)]
    where: Annotated[str, Field(max_length=_MAX_CHARS, description="column = value and column > number")] = ""
    columns: Annotated[
        str, Field(max_length=_MAX_CHARS, description="columns to show, separated by commas")
    ] = ""
    sort: Annotated[str, Field(max_length=_MAX_CHARS, description="column, or column desc")] = ""
    total: Annotated[
        str, Field(max_length=_MAX_CHARS, description="sum, avg, min or max with a column, or count")
    ] = ""
    by: Annotated[str, Field(max_length=_MAX_CHARS, description="column to group by")] = ""


class QueryTableResult(BaseModel):
    """A value and the row that it stands in, or a table with its header; `rows` counts the rows used."""

    value: int | float | str | None
    row: str
    rows: int
    truncated: bool
    note: str
    table: str


def query_table_tool(files: ContainedFiles, threads: WorkerThreads) -> FunctionTool:
    async def tables(context: ToolContext, limit: int, near: str) -> Sequence[str]:
        return await threads.run(
            lambda stopped: nearest(near, _tables(file_names(files, context.workspace, stopped)), limit)
        )

    async def read(arguments: QueryTableArguments, context: ToolContext) -> tuple[Target, ...]:
        return await threads.run(
            lambda _stopped: (
                file_target(
                    files, _meant(files, arguments.path, context.workspace), context.workspace, Access.READ
                ),
            )
        )

    @tool(
        effect=Effect.READ,
        targets=read,
        example={"path": "expenses.csv", "total": "sum amount", "by": "month"},
        candidates={"path": tables},
    )
    async def query_table(arguments: QueryTableArguments, context: ToolContext) -> QueryTableResult:
        """Filter, sort, group or total the rows of a csv or tsv file."""
        return await threads.run(lambda _stopped: _answered(files, arguments, context.workspace))

    return query_table


def _answered(files: ContainedFiles, arguments: QueryTableArguments, workspace: str) -> QueryTableResult:
    table, note = _read(files, arguments.path, workspace)
    query = Query(arguments.where, arguments.columns, arguments.sort, arguments.total, arguments.by)
    found = answer(table, query)
    lines = [[shown(cell) for cell in row] for row in (found.columns, *found.rows[:MAX_SHOWN_ROWS]) if row]
    text = _csv(lines)
    return QueryTableResult(
        value=None if found.value is None else shown(found.value),
        row=found.row,
        rows=found.rows_used,
        truncated=len(found.rows) > MAX_SHOWN_ROWS or len(text) > MAX_SHOWN_CHARS,
        note="; ".join(filter(None, (note, found.note))),
        table=text[:MAX_SHOWN_CHARS],
    )


def _read(files: ContainedFiles, path: str, workspace: str) -> tuple[Table, str]:
    """The table, and a note where another file was meant."""
    meant = _meant(files, path, workspace)
    return read_table(_text(files, meant, workspace)), "" if meant == path else f"read {meant}"


def _meant(files: ContainedFiles, path: str, workspace: str) -> str:
    """The path of the one existing file that is meant."""
    if files.is_folder(path, workspace) is not None:
        return path
    alike = [name for name in file_names(files, workspace, lambda: False) if _same_name(name, path)]
    if len(alike) != 1:
        raise ToolError(f"{path!r:.200} does not exist", reason="FILE_NOT_FOUND", field="path")
    return alike[0]


def _text(files: ContainedFiles, path: str, workspace: str) -> str:
    with files.open_file(path, workspace) as opened, os.fdopen(os.dup(opened), "rb") as file:
        content = file.read(MAX_TABLE_BYTES + 1)
    if len(content) > MAX_TABLE_BYTES:
        raise ToolError(
            f"{path!r:.200} has more than {MAX_TABLE_BYTES >> 20} MiB", reason="TABLE_TOO_LARGE", field="path"
        )
    if b"\0" in content:
        raise ToolError(f"{path!r:.200} is not text", reason="NOT_TEXT", field="path")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return _WINDOWS.decode(content, "replace")[0]


def _same_name(name: str, path: str) -> bool:
    """Whether the file has this name, in whatever folder, case and spacing, with or without its ending."""
    wanted, there = PurePosixPath(path), PurePosixPath(name)
    return same_form(wanted.name, there.name) or (
        there.suffix in _TABLES and same_form(wanted.name, there.stem)
    )


def _tables(names: Sequence[str]) -> list[str]:
    return [name for name in names if PurePosixPath(name).suffix.casefold() in _TABLES]


def _csv(lines: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
