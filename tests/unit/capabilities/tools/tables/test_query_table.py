"""The query_table tool."""

from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.tables.query_table import MAX_SHOWN_ROWS, MAX_TABLE_BYTES, query_table_tool
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import ToolCall, ToolResult
from tests.support.tools import CONTEXT, invoker_of, within

MEMBERS = "name,fee,paid\nLena,120,yes\nOmar,95,no\nTill,120,no\n"


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
    return {name: part for name, part in result.data.items() if part not in (None, "", False)}


async def test_rows_are_a_short_table(folder: Path) -> None:
    """Rows are given as lines below a header, filtered, sorted and with the columns asked for."""
    assert await given(folder) == {"rows": 3, "table": MEMBERS}
    found = await given(folder, where="paid = no", columns="name, fee", sort="fee desc")
    assert found == {"rows": 2, "table": "name,fee\nTill,120\nOmar,95\n"}


async def test_totals_are_values(folder: Path) -> None:
    """A total is one number; an extreme has its row; groups are a table."""
    assert await given(folder, total="sum fee") == {"value": 335, "rows": 3}
    assert await given(folder, total="min fee") == {
        "value": 95,
        "row": "name: Omar, fee: 95, paid: no",
        "rows": 3,
    }
    assert await given(folder, total="avg fee", by="paid") == {
        "rows": 3,
        "table": "paid,avg fee\nyes,120\nno,107.5\n",
    }


@pytest.mark.parametrize("path", ["members.csv", "Club/Members.csv", "members", "club/members"])
async def test_the_only_file_of_the_name_is_read(folder: Path, path: str) -> None:
    """A path that misses the folder, the case or the ending reads the one file that is meant, and says so."""
    found = await given(folder, path=path, total="count")
    assert found == {"value": 3, "rows": 3, "note": "read club/members.csv"}


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
    result = await use(folder, total="sum price")
    assert (result.reason, result.metadata["candidates"]) == ("COLUMN_NOT_FOUND", ["name", "fee", "paid"])


async def test_long_tables_are_cut(folder: Path) -> None:
    """Of more rows than fit the first are shown, and all are counted."""
    (folder / "long.tsv").write_text("a\tb\n" + "x\t1\n" * 80)
    found = await given(folder, path="long.tsv")
    assert (found["rows"], found["truncated"], found["table"].count("\n")) == (80, True, MAX_SHOWN_ROWS + 1)


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
