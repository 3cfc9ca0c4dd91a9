"""The query_table tool."""

import codecs
import os
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.path_matching import file_target
from aeond.capabilities.tools.files.previews import file_names
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.tables.query_conversation import QUERY, csv_text, query_view
from aeond.capabilities.tools.tables.reading import Table, read_table
from aeond.capabilities.tools.tables.statements import select, table_name
from aeond.capabilities.tools.trust import Trusts, trust_all
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.names import nearest, same_form
from aeond.domain.policy import Access, Target
from aeond.domain.tools import CompositionView, Effect, ToolContext
from aeond.domain.values import JsonObject
from aeond.errors import ToolError

MAX_TABLE_BYTES: Final = 8 << 20
MAX_SHOWN_ROWS: Final = 50
MAX_SHOWN_CHARS: Final = 16_000
_MAX_PATH_CHARS: Final = 1_000
MAX_QUERY_CHARS: Final = 1_000
_FIRST_ROWS: Final = 5
# As spreadsheets on Windows write. Loaded here: a thread with the rights of a user may not be able to read Python.
_WINDOWS: Final = codecs.lookup("cp1252")
_LISTS: Final = ".json"  # of objects
_TABLES: Final = (".csv", ".tsv", _LISTS)


class QueryTableArguments(BaseModel):
    """The file, and a SELECT statement over the table that has the file's name; "" for all rows."""

    path: Annotated[str, Field(min_length=1, max_length=_MAX_PATH_CHARS)]
    query: Annotated[str, Field(max_length=MAX_QUERY_CHARS, description="SQL SELECT")] = ""


class QueryTableResult(BaseModel):
    """A table with its header; `rows` counts its rows, `note` says what another file was read or what the table holds where
    no row fits."""

    rows: int
    truncated: bool
    note: str
    table: str


def query_table_tool(
    files: ContainedFiles, threads: WorkerThreads, trusts: Trusts = trust_all
) -> FunctionTool:
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

    async def view(arguments: JsonObject, context: ToolContext, request: str) -> CompositionView | None:
        return await threads.run(
            lambda _stopped: _view(files, trusts, str(arguments.get("path", "")), context.workspace, request)
        )

    @tool(
        effect=Effect.READ,
        targets=read,
        example={"path": "expenses.csv", "query": "SELECT month, SUM(amount) FROM expenses GROUP BY month"},
        candidates={"path": tables},
        composed=(QUERY, view),
    )
    async def query_table(arguments: QueryTableArguments, context: ToolContext) -> QueryTableResult:
        """Finds, counts, compares or adds up rows of a csv or tsv file, or of a JSON list."""
        return await threads.run(lambda stopped: _answered(files, arguments, context.workspace, stopped))

    return query_table


def _answered(
    files: ContainedFiles, arguments: QueryTableArguments, workspace: str, stopped: Stopped
) -> QueryTableResult:
    table, path, note = _read(files, arguments.path, workspace)
    found = select(table, table_name(path), arguments.query, stopped)
    shown = found.rows[:MAX_SHOWN_ROWS]
    text = csv_text([found.columns, *shown])
    if not any(map(any, found.rows)):
        begins = csv_text([table.columns, *table.rows[:_FIRST_ROWS]])
        note = "; ".join(filter(None, (note, f"nothing fits; the table begins:\n{begins}")))
    return QueryTableResult(
        rows=len(found.rows),
        truncated=found.more or len(shown) < len(found.rows) or len(text) > MAX_SHOWN_CHARS,
        note=note,
        table=text[:MAX_SHOWN_CHARS],
    )


def _view(
    files: ContainedFiles, trusts: Trusts, path: str, workspace: str, request: str
) -> CompositionView | None:
    """The table, for the conversation in which a small model writes the query; None for a JSON file without one, and for a file
    that is not trusted, because its content would be read before the policy has decided about the call."""
    meant = _meant(files, path, workspace)
    if not trusts(file_target(files, meant, workspace, Access.READ).name, workspace):
        return None
    table = read_table(_text(files, meant, workspace))
    if table.plain and PurePosixPath(meant).suffix.casefold() == _LISTS:
        return None
    return query_view(table, meant, request)


def _read(files: ContainedFiles, path: str, workspace: str) -> tuple[Table, str, str]:
    """The table, its path, and a note where another file was meant."""
    meant = _meant(files, path, workspace)
    return read_table(_text(files, meant, workspace)), meant, "" if meant == path else f"read {meant}"


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
