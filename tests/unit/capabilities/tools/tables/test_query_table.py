"""The query_table tool."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.tables.query_table import MAX_AROUND_CHARS, MAX_SHOWN_ROWS, query_table_tool
from aeond.capabilities.tools.tables.statements import MAX_ROWS_READ
from aeond.capabilities.tools.tables.table_files import MAX_TABLE_BYTES
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import ToolCall, ToolResult
from tests.support.tools import CONTEXT, invoker_of, within

MEMBERS = "name,fee,paid\nLena,120,yes\nOmar,95,no\nTill,120,no\n"


def _trusts(trusted: bool, _path: str, _workspace: str) -> bool:
    return trusted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "club").mkdir()
    (tmp_path / "club" / "members.csv").write_text(MEMBERS)
    (tmp_path / "notes.txt").write_text("milk 2\n")
    return tmp_path


async def use(folder: Path, **arguments: Any) -> ToolResult:
    tool = query_table_tool(ContainedFiles(resolve_in_kernel), WorkerThreads())
    call = ToolCall("query_table", {"path": "club/members.csv", **arguments}, "call1")
    return await invoker_of(tool).invoke(call, within(CONTEXT, folder))


async def given(folder: Path, **arguments: Any) -> dict[str, Any]:
    result = await use(folder, **arguments)
    assert result.success, result.error
    assert isinstance(result.data, dict)
    return {name: part for name, part in result.data.items() if part not in (None, "", False, [])}


async def test_rows_are_a_short_table(folder: Path) -> None:
    """Rows are given as lines below a header: all of them, or those of a statement over the table of the file's name."""
    extremes = "fee: highest 120 (Lena, yes; Till, no), lowest 95 (Omar, no)"
    assert await given(folder) == {"rows": 3, "table": MEMBERS, "extremes": extremes}
    found = await given(folder, query="SELECT name, fee FROM members WHERE paid = 'no' ORDER BY fee DESC")
    extremes = "fee: highest 120 (Till), lowest 95 (Omar)"
    assert found == {"rows": 2, "table": "name,fee\nTill,120\nOmar,95\n", "extremes": extremes}
    assert await given(folder, query="SELECT SUM(fee) FROM members") == {
        "rows": 1,
        "table": "SUM(fee)\n335\n",
    }


async def test_columns_are_shown_as_the_file_names_them(folder: Path) -> None:
    """A statement names columns without signs that need quotes; the header and the extremes have the names of the file."""
    (folder / "log.csv").write_text("call,where,first km\nA,Albany,5\nB,Toyama,7\n")
    found = await given(folder, path="log.csv", query="SELECT call, where_, first_km FROM log")
    assert found["table"].startswith("call,where,first km\nA,Albany,5\n")
    assert found["extremes"].startswith("first km: highest 7 (B, Toyama)")


async def test_where_nothing_fits_the_table_is_shown(folder: Path) -> None:
    """A statement without a result, or with an empty one, comes with the first rows, from which the next can be written."""
    for query in (
        "SELECT * FROM members WHERE name = 'Ida'",
        "SELECT MAX(fee) FROM members WHERE paid = 'later'",
    ):
        found = await given(folder, query=query)
        assert found["note"] == f"nothing fits; the table begins:\n{MEMBERS}"


async def test_a_small_model_writes_the_query_with_the_table_in_view(folder: Path) -> None:
    """The conversation is about the file that the path means, unless it is not trusted."""
    for trusted in (True, False):
        tool = query_table_tool(ContainedFiles(resolve_in_kernel), WorkerThreads(), partial(_trusts, trusted))
        context = within(CONTEXT, folder)
        begun = await invoker_of(tool).composition_view(
            ToolCall("query_table", {"path": "members"}), context, "who?"
        )
        assert (begun is not None) == trusted
        assert begun is None or begun.text.startswith("CREATE TABLE members (\n  name TEXT, -- 'Lena', ")


@pytest.fixture
def paid(folder: Path) -> Path:
    """A second table beside the members, and one of the same name elsewhere."""
    (folder / "club" / "paid.csv").write_text("name,euros\nLena,120\nTill,20\n")
    (folder / "old").mkdir()
    (folder / "old" / "paid.csv").write_text("name,euros\nOmar,1\n")
    return folder


async def test_a_statement_may_be_over_several_tables(paid: Path) -> None:
    """A statement can name the tables of other files, of which that in the same folder counts; in a text no table is named."""
    query = "SELECT name, fee - euros AS owed FROM members JOIN paid USING (name) WHERE fee > euros"
    assert (await given(paid, query=query))["table"] == "name,owed\nTill,100\n"
    missing = "SELECT name FROM members WHERE name NOT IN (SELECT name FROM paid) AND name <> 'old paid'"
    assert (await given(paid, query=missing))["table"] == "name\nOmar\n"
    (paid / "club" / "paid.csv").write_bytes(b"\0")  # as if a column had the name of a file without a table
    found = await given(paid, query="SELECT COUNT(*) AS paid FROM members")
    assert found["table"] == "paid\n3\n"


async def test_all_files_of_a_statement_are_targets(paid: Path) -> None:
    """The policy decides about every file that a statement reads."""
    tool = query_table_tool(ContainedFiles(resolve_in_kernel), WorkerThreads())
    arguments = {"path": "members", "query": "SELECT * FROM members, paid WHERE paid = 'log'"}
    targets = await tool.targets(arguments, within(CONTEXT, paid))
    assert [Path(target.name).name for target in targets or ()] == ["members.csv", "paid.csv"]


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        ("who is in paid.csv?", ["members", "paid"]),
        ("who of the members has not paid?", ["members", "paid"]),
        ("in members.csv, who has paid?", ["members"]),
        ("compare Members.csv with Paid.csv", ["members", "paid"]),
    ],
)
async def test_tables_that_the_request_names_are_in_view(paid: Path, request_: str, names: list[str]) -> None:
    """The declarations of other tables stand below that of the file if the request names them: by whole names of files if that of the file
    is there."""
    tool = query_table_tool(ContainedFiles(resolve_in_kernel), WorkerThreads())
    call = ToolCall("query_table", {"path": "members"})
    view = await invoker_of(tool).composition_view(call, within(CONTEXT, paid), request_)
    assert view is not None
    assert re.findall(r"CREATE TABLE (\w+)", view.text) == names


@pytest.mark.parametrize(("content", "is_table"), [('[{"a": 1}, {"a": 2}]', True), ('{"a": 1}', False)])
async def test_a_json_file_is_asked_only_if_it_is_a_list(folder: Path, content: str, is_table: bool) -> None:
    """A list of objects is a table with a column for each member; for other JSON no query is written."""
    (folder / "plan.json").write_text(content)
    tool = query_table_tool(ContainedFiles(resolve_in_kernel), WorkerThreads())
    call = ToolCall("query_table", {"path": "plan.json"})
    begun = await invoker_of(tool).composition_view(call, within(CONTEXT, folder), "how many?")
    assert (begun.text if begun else "") == ("CREATE TABLE plan (\n  a REAL -- 1, 2\n);" if is_table else "")


@pytest.mark.parametrize("path", ["members.csv", "Club/Members.csv", "members", "club/members"])
async def test_the_only_file_of_the_name_is_read(folder: Path, path: str) -> None:
    """A path that misses the folder, the case or the ending reads the one file that is meant, and says so."""
    found = await given(folder, path=path, query="SELECT COUNT(*) FROM members")
    assert found == {"table": "COUNT(*)\n3\n", "rows": 1, "note": "read club/members.csv"}


async def test_a_missing_file_has_candidates(folder: Path) -> None:
    """A path that fits no table, or several, fails with the tables that exist."""
    (folder / "members.csv").write_text(MEMBERS)
    for path, reason in (("wages.csv", "FILE_NOT_FOUND"), ("old/members.csv", "FILE_NOT_FOUND")):
        result = await use(folder, path=path)
        assert (result.success, result.reason) == (False, reason)
        candidates = result.metadata["candidates"]
        assert isinstance(candidates, list)
        assert sorted(candidates) == ["club/members.csv", "members.csv"]


async def test_an_unknown_column_has_candidates(folder: Path) -> None:
    """A column that does not exist fails with the columns that do."""
    result = await use(folder, query="SELECT SUM(price) FROM members")
    assert (result.reason, result.metadata["candidates"]) == ("QUERY_INVALID", ["name", "fee", "paid"])


async def test_long_tables_are_cut(folder: Path) -> None:
    """Of more rows than fit the first are shown, and all are counted."""
    (folder / "long.tsv").write_text("a\tb\n" + "x\t1\n" * 80)
    found = await given(folder, path="long.tsv")
    assert (found["rows"], found["truncated"], found["table"].count("\n")) == (80, True, MAX_SHOWN_ROWS + 1)


async def test_extremes_are_those_of_all_rows(folder: Path) -> None:
    """The highest number is named also where its row is not shown, and none where not all rows were read."""
    for rows, extremes in (
        (MAX_SHOWN_ROWS + 9, f"b: highest {MAX_SHOWN_ROWS + 8} (x)"),
        (MAX_ROWS_READ + 1, ""),
    ):
        (folder / "long.tsv").write_text("a\tb\n" + "".join(f"x\t{number}\n" for number in range(rows)))
        found = await given(folder, path="long.tsv")
        assert found.get("extremes", "").partition(", lowest")[0] == extremes


async def test_other_encodings_are_read(folder: Path) -> None:
    """A file in the encoding of Windows is read; one that is not text, or too large, is refused."""
    (folder / "old.csv").write_bytes(
        "name;fee\nZo\N{LATIN SMALL LETTER E WITH DIAERESIS};5\n".encode("cp1252")
    )
    assert (await given(folder, path="old.csv"))[
        "table"
    ] == "name,fee\nZo\N{LATIN SMALL LETTER E WITH DIAERESIS},5\n"
    (folder / "picture.csv").write_bytes(b"a,b\n\0")
    assert (await use(folder, path="picture.csv")).reason == "NOT_TEXT"
    (folder / "huge.csv").write_bytes(b"a,b\n" * (MAX_TABLE_BYTES // 4 + 1))
    assert (await use(folder, path="huge.csv")).reason == "TABLE_TOO_LARGE"


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (
            "Flour is by the door.",
            "the file:\nFlour is by the door.\n\n| what | grams |\n|---|---|\n| salt | 5 |\n| oats | 70 |\n",
        ),
        ("far " * 500, "beside the table:\n" + ("far " * 500)[:MAX_AROUND_CHARS]),
    ],
)
async def test_a_text_with_a_table_is_shown_beside_what_was_selected(
    folder: Path, line: str, note: str
) -> None:
    """A short text in which a table was found is shown whole with the rows, of a long one the beginning of what else it says."""
    (folder / "list.md").write_text(f"{line}\n\n| what | grams |\n|---|---|\n| salt | 5 |\n| oats | 70 |\n")
    found = await given(folder, path="list.md", query="SELECT SUM(grams) AS total FROM list")
    assert (found["table"], found["note"]) == ("total\n75\n", note)
