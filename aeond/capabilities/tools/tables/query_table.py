"""The query_table tool."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.path_matching import file_target
from aeond.capabilities.tools.files.previews import file_names
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.tables.cells import highest_and_lowest
from aeond.capabilities.tools.tables.query_conversation import QUERY, csv_text, query_view
from aeond.capabilities.tools.tables.reading import Table
from aeond.capabilities.tools.tables.statements import column_names, select, table_name, without_texts
from aeond.capabilities.tools.tables.table_files import TableFiles, is_none, tables_in
from aeond.capabilities.tools.trust import Trusts, trust_all
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.names import nearest
from aeond.domain.policy import Access, Target
from aeond.domain.tools import CompositionView, Effect, ToolContext
from aeond.domain.values import JsonObject
from aeond.errors import ToolError

MAX_SHOWN_ROWS: Final = 50
MAX_SHOWN_CHARS: Final = 16_000
MAX_AROUND_CHARS: Final = 1_500
_MAX_PATH_CHARS: Final = 1_000
MAX_QUERY_CHARS: Final = 1_000
_FIRST_ROWS: Final = 5


class QueryTableArguments(BaseModel):
    """The file, and a SELECT statement over the table that has the file's name, and over those of other files by theirs; "" for all
    rows."""

    path: Annotated[str, Field(min_length=1, max_length=_MAX_PATH_CHARS)]
    query: Annotated[str, Field(max_length=MAX_QUERY_CHARS, description="SQL SELECT")] = ""


class QueryTableResult(BaseModel):
    """A table with its header; `rows` counts its rows, `extremes` names the highest and lowest numbers of its columns, `note` says what other
    file was read, the short text that the table was found in or what else a longer one says, and what the table holds where no row fits."""

    rows: int
    truncated: bool
    note: str
    table: str
    extremes: str


def query_table_tool(
    files: ContainedFiles, threads: WorkerThreads, trusts: Trusts = trust_all
) -> FunctionTool:
    tables_of = TableFiles(files)

    async def tables(context: ToolContext, limit: int, near: str) -> Sequence[str]:
        return await threads.run(
            lambda stopped: nearest(near, tables_in(file_names(files, context.workspace, stopped)), limit)
        )

    async def read(arguments: QueryTableArguments, context: ToolContext) -> tuple[Target, ...]:
        return await threads.run(
            lambda _stopped: tuple(
                file_target(files, path, context.workspace, Access.READ)
                for path in _read_by(tables_of, arguments, context.workspace)
            )
        )

    async def view(arguments: JsonObject, context: ToolContext, request: str) -> CompositionView | None:
        return await threads.run(
            lambda _stopped: _view(
                tables_of, trusts, str(arguments.get("path", "")), context.workspace, request
            )
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
        return await threads.run(lambda stopped: _answered(tables_of, arguments, context.workspace, stopped))

    return query_table


def _read_by(tables: TableFiles, arguments: QueryTableArguments, workspace: str) -> Sequence[str]:
    """The paths of the files that the call reads, the one that it names first."""
    path = tables.meant(arguments.path, workspace)
    return (path, *tables.others(without_texts(arguments.query), path, workspace))


def _answered(
    tables: TableFiles, arguments: QueryTableArguments, workspace: str, stopped: Stopped
) -> QueryTableResult:
    path, *others = _read_by(tables, arguments, workspace)
    table = tables.table(path, workspace)
    note = "; ".join(filter(None, ("" if path == arguments.path else f"read {path}", _beside(table))))
    read = {table_name(path): table}
    for other in others:
        with suppress(ToolError):  # perhaps a column has its name, and it is not meant
            read[table_name(other)] = tables.table(other, workspace)
    found = select(read, arguments.query, stopped)
    columns = _as_in_files(found.columns, read.values())
    shown = found.rows[:MAX_SHOWN_ROWS]
    text = csv_text([columns, *shown])
    if not any(map(any, found.rows)):
        begins = csv_text([table.columns, *table.rows[:_FIRST_ROWS]])
        note = "; ".join(filter(None, (note, f"nothing fits; the table begins:\n{begins}")))
    return QueryTableResult(
        rows=len(found.rows),
        truncated=found.more or len(shown) < len(found.rows) or len(text) > MAX_SHOWN_CHARS,
        note=note,
        table=text[:MAX_SHOWN_CHARS],
        extremes="" if found.more else highest_and_lowest(columns, found.rows),
    )


def _beside(table: Table) -> str:
    """The text that the table is in, if it is short, or what else it says: a table that was only seen in a text may not be what it is about."""
    if table.whole:
        return f"the file:\n{table.whole}"
    return f"beside the table:\n{table.around[:MAX_AROUND_CHARS]}" if table.around else ""


def _as_in_files(columns: Sequence[str], tables: Iterable[Table]) -> Sequence[str]:
    """The columns of a result, those of the tables under the names in their files, so that a file written from the result has the same header."""
    known = {
        name: column
        for table in tables
        for name, column in zip(column_names(table.columns), table.columns, strict=True)
    }
    return [known.get(column, column) for column in columns]


def _has_name(request: str, path: str) -> bool:
    """Whether the request has the name of the file with its ending."""
    return PurePosixPath(path).name.casefold() in request.casefold()


def _view(
    tables: TableFiles, trusts: Trusts, path: str, workspace: str, request: str
) -> CompositionView | None:
    """The table and those of other files that the request names, for the conversation in which a small model writes the query; None for a
    file without one, and for a file that is not trusted, because its content would be read before the policy has decided
    about the call. Where the request has the whole name of the file, it has those of the others too: a word like "controls" is a column then."""
    meant = tables.meant(path, workspace)
    others = tables.others(request, meant, workspace)
    if _has_name(request, meant):
        others = [one for one in others if _has_name(request, one)]
    named = [
        one
        for one in (meant, *others)
        if trusts(file_target(tables.files, one, workspace, Access.READ).name, workspace)
    ]
    shown: dict[str, Table] = {}
    for one in named:
        with suppress(ToolError):
            if not is_none(table := tables.table(one, workspace), one):
                shown[one] = table
    return query_view(shown, request) if meant in shown else None
