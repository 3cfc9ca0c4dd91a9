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
from aeond.capabilities.tools.tables.joined_tables import EVERY_FILE, joined, names_every_file
from aeond.capabilities.tools.tables.query_conversation import QUERY, csv_text, query_view
from aeond.capabilities.tools.tables.reading import Table
from aeond.capabilities.tools.tables.statements import column_names, select, table_name, without_texts
from aeond.capabilities.tools.tables.table_files import TableFiles, is_none, tables_in
from aeond.capabilities.tools.trust import Trusts, trust_all
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.names import nearest, words_to_match
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
_ABBREVIATION: Final = 3  # letters
_QUERY: Final = (
    f"SQL SELECT; the table {EVERY_FILE} has the rows of all files of the folder with these columns"
)


class QueryTableArguments(BaseModel):
    """The file, and a SELECT statement over the table that has the file's name, over those of other files by theirs, and over EVERY_FILE: the
    rows of all csv and tsv files of the folder with the same columns. "" for all rows of the file."""

    path: Annotated[str, Field(min_length=1, max_length=_MAX_PATH_CHARS)]
    query: Annotated[str, Field(max_length=MAX_QUERY_CHARS, description=_QUERY)] = ""


class QueryTableResult(BaseModel):
    """A table with its header; `rows` counts its rows, `extremes` names the highest and lowest numbers of its columns, `note` says what other
    file was read, the short text that the table was found in or what else a longer one says, and what the table holds where no row fits;
    `files` are those whose rows were read as one table."""

    rows: int
    truncated: bool
    note: str
    table: str
    extremes: str
    files: Sequence[str] = ()


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
    alike = _joined_by(tables, arguments, path, workspace)
    return (*dict.fromkeys((path, *tables.others(without_texts(arguments.query), path, workspace), *alike)),)


def _joined_by(
    tables: TableFiles, arguments: QueryTableArguments, path: str, workspace: str
) -> Sequence[str]:
    """The paths of the files whose rows the query reads as one table."""
    return tables.with_the_columns_of(path, workspace) if names_every_file(arguments.query) else ()


def _answered(
    tables: TableFiles, arguments: QueryTableArguments, workspace: str, stopped: Stopped
) -> QueryTableResult:
    path = tables.meant(arguments.path, workspace)
    table = tables.table(path, workspace)
    read = {table_name(path): table}
    for other in tables.others(without_texts(arguments.query), path, workspace):
        with suppress(ToolError):  # perhaps a column has its name, and it is not meant
            read[table_name(other)] = tables.table(other, workspace)
    alike = _joined_by(tables, arguments, path, workspace)
    if alike:
        read.setdefault(EVERY_FILE, _joined(tables, alike, workspace))
    note = "; ".join(filter(None, ("" if path == arguments.path else f"read {path}", _beside(table))))
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
        files=alike,
    )


def _joined(tables: TableFiles, paths: Sequence[str], workspace: str) -> Table:
    return joined({path: tables.table(path, workspace) for path in paths})


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


def _has_words(request: str, path: str) -> bool:
    """Whether the request has all words of the name of the file, or longer ones that begin with them: "february" names feb.csv."""
    said = words_to_match(request)

    def is_said(word: str) -> bool:
        return word in said or (len(word) >= _ABBREVIATION and any(one.startswith(word) for one in said))

    return all(map(is_said, words_to_match(PurePosixPath(path).stem)))


def _view(
    tables: TableFiles, trusts: Trusts, path: str, workspace: str, request: str
) -> CompositionView | None:
    """The table and those of other files that the request names, for the conversation in which a small model writes the query; None for a
    file without one, and for a file that is not trusted, because its content would be read before the policy has decided
    about the call. Where the request has the whole name of the file, it has those of the others too: a word like "controls" is a column then.
    Where several files have the same columns, and the request does not name one of them alone, they are shown as one table."""

    def is_trusted(one: str) -> bool:
        return trusts(file_target(tables.files, one, workspace, Access.READ).name, workspace)

    meant = tables.meant(path, workspace)
    if not is_trusted(meant):
        return None
    others = tables.others(request, meant, workspace)
    if _has_name(request, meant):
        others = [one for one in others if _has_name(request, one)]
    alike = [one for one in tables.with_the_columns_of(meant, workspace) if is_trusted(one)]
    named = [one for one in alike if _has_name(request, one)] or [
        one for one in alike if _has_words(request, one)
    ]
    shown: dict[str, Table] = {}
    if len(alike) > 1 and len(named) != 1:
        with suppress(ToolError):
            shown[EVERY_FILE] = _joined(tables, alike, workspace)
            others = [one for one in others if one not in alike]
    for one in others if shown else (meant, *others):
        with suppress(ToolError):
            if is_trusted(one) and not is_none(table := tables.table(one, workspace), one):
                shown[one] = table
    return query_view(shown, request) if {EVERY_FILE, meant} & {*shown} else None
