"""One table of the rows of several files."""

import re
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.tables.joined_tables import joined, names_every_file
from aeond.capabilities.tools.tables.query_table import query_table_tool
from aeond.capabilities.tools.tables.reading import MAX_ROWS, Table
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import ToolCall, ToolResult
from aeond.errors import ToolError
from tests.support.tools import CONTEXT, invoker_of, within

BY_SHOP = "SELECT shop, SUM(euros) AS total FROM every_file GROUP BY shop ORDER BY total DESC"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "2026").mkdir()
    (tmp_path / "2026" / "march.csv").write_text(
        "date,shop,euros\n2026-03-02,Lund,48\n2026-03-20,Marina,22\n"
    )
    (tmp_path / "2026" / "april.csv").write_text("\ufeffDate;Shop;Euros\n2026-04-11;Lund;2\n")
    (tmp_path / "2026" / "people.csv").write_text("name,fee\nLena,120\n")
    (tmp_path / "may.csv").write_text("date,shop,euros\n2026-05-01,Lund,1000\n")
    return tmp_path


def call_of(**arguments: Any) -> ToolCall:
    return ToolCall("query_table", {"path": "march.csv", **arguments}, "call1")


async def use(folder: Path, **arguments: Any) -> ToolResult:
    tool = query_table_tool(ContainedFiles(resolve_in_kernel), WorkerThreads())
    return await invoker_of(tool).invoke(call_of(**arguments), within(CONTEXT, folder))


async def declared(folder: Path, request: str) -> str:
    """The tables that a small model sees when it writes a query for the request."""
    tool = query_table_tool(ContainedFiles(resolve_in_kernel), WorkerThreads())
    view = await invoker_of(tool).composition_view(call_of(), within(CONTEXT, folder), request)
    assert view is not None
    return view.text


async def test_a_statement_may_be_over_all_files_with_the_same_columns(folder: Path) -> None:
    """Files of the folder with the same header, whatever separates it, are one table, and the result says which they are."""
    result = await use(folder, query=BY_SHOP)
    assert isinstance(result.data, dict)
    assert result.data["table"] == "Shop,total\nLund,50\nMarina,22\n"
    assert result.data["files"] == ["2026/april.csv", "2026/march.csv"]


async def test_a_row_says_in_which_file_it_stands(folder: Path) -> None:
    """A column before the others has the name of the file, under another name if the files have such a column."""
    result = await use(folder, query="SELECT file, COUNT(*) AS number FROM Every_File GROUP BY file")
    assert isinstance(result.data, dict)
    assert result.data["table"] == "file,number\napril,1\nmarch,2\n"
    assert joined({"a/b.csv": Table(("File",), (("x",),))}) == Table(("in_file", "File"), (("b", "x"),))


async def test_all_these_files_are_targets(folder: Path) -> None:
    """The policy decides about every file whose rows are read."""
    tool = query_table_tool(ContainedFiles(resolve_in_kernel), WorkerThreads())
    targets = await tool.targets(call_of(query=BY_SHOP).arguments, within(CONTEXT, folder))
    assert [Path(target.name).name for target in targets or ()] == ["march.csv", "april.csv"]


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        ("what did we spend at Lund so far", ["every_file"]),
        ("more in march or in april?", ["every_file"]),
        ("compare march.csv with april.csv", ["every_file"]),
        ("what did we spend in march", ["march"]),
        ("was haben wir im Marchfeld ausgegeben", ["march"]),
        ("mar or apr?", ["every_file"]),
        ("what is the sum in march.csv, of april and all", ["march"]),
        ("march and april by the fee of the people", ["every_file", "people"]),
    ],
)
async def test_a_request_that_names_no_single_one_is_asked_of_all(
    folder: Path, request_: str, names: list[str]
) -> None:
    """A small model sees one table where a request does not name one of the files alone."""
    assert re.findall(r"CREATE TABLE (\w+)", await declared(folder, request_)) == names


async def test_files_that_are_not_trusted_are_not_shown(folder: Path) -> None:
    """Rows of a file about which the policy has not decided are in no table that a small model sees."""
    tool = query_table_tool(
        ContainedFiles(resolve_in_kernel), WorkerThreads(), lambda path, _workspace: "april" not in path
    )
    view = await invoker_of(tool).composition_view(call_of(), within(CONTEXT, folder), "how much in all?")
    assert view is not None
    assert re.findall(r"CREATE TABLE (\w+)", view.text) == ["march"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT * FROM every_file", True),
        ("SELECT 'every_file' FROM a", False),
        ("SELECT every_files", False),
    ],
)
def test_a_statement_names_the_table_outside_of_texts(statement: str, expected: bool) -> None:
    """The name counts as a whole word, and not in a text."""
    assert names_every_file(statement) is expected


@pytest.mark.parametrize(
    ("other", "reason"),
    [(Table(("a",), (("1",),) * MAX_ROWS), "TABLE_TOO_LARGE"), (Table(("a", "b"), ()), "QUERY_INVALID")],
)
def test_tables_that_do_not_fit_are_refused(other: Table, reason: str) -> None:
    """Files with more rows than a table may have, or with different columns, are not joined."""
    with pytest.raises(ToolError) as refused:
        joined({"a.csv": Table(("a",), (("1",),)), "b.csv": other})
    assert (refused.value.reason, refused.value.field) == (reason, "query")
