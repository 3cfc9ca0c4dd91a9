"""The write_file, edit_file and append_file tools."""

import os
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.tools.editing.writing import MAX_CONTENT_CHARS
from aeond.domain.tools import RecordedEffect
from tests.support.file_tools import FileTools


@pytest.fixture
def tools(tmp_path: Path) -> FileTools:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "Plan.md").write_text("Meet at 9.\nBring rope.\n")
    (tmp_path / "shopping.txt").write_text("milk\neggs")
    return FileTools(tmp_path)


async def test_text_is_written_as_it_is(tools: FileTools) -> None:
    """The file holds exactly the text, in UTF-8; result and effect have its path and size."""
    text = "one\r\ntwo\n\u00fc\U0001f600\0"
    size = len(text.encode())
    result = await tools.call("write_file", path="sub/a.txt", content=text)
    assert result.data == {"path": "sub/a.txt", "change": f"created, {size} bytes"}
    assert result.effects == (RecordedEffect("file.created", "sub/a.txt", f"{size} bytes"),)
    assert (tools.folder / "sub" / "a.txt").read_bytes() == text.encode()


async def test_largest_text_is_written(tools: FileTools) -> None:
    """The longest text that is allowed is written, and one letter more is refused with nothing written."""
    assert await tools.done("write_file", path="a.txt", content="\u20ac" * MAX_CONTENT_CHARS)
    result = await tools.call("write_file", path="b.txt", content="x" * (MAX_CONTENT_CHARS + 1))
    assert result.reason == "ARGUMENTS_INVALID"
    assert not (tools.folder / "b.txt").exists()


@pytest.mark.parametrize("tool", ["write_file", "append_file", "edit_file"])
@pytest.mark.parametrize("path", ["../out.txt", "/etc/aeond-test", "sub/../../out.txt"])
async def test_nothing_is_written_outside(tmp_path: Path, tool: str, path: str) -> None:
    """A path that leads out of the workspace is refused."""
    (tmp_path / "workspace" / "sub").mkdir(parents=True)
    tools = FileTools(tmp_path / "workspace")
    texts: dict[str, dict[str, Any]] = {
        "write_file": {"content": "x"},
        "append_file": {"text": "x"},
        "edit_file": {"changes": [{"replace": "x", "with": "y"}]},
    }
    assert (await tools.call(tool, path=path, **texts[tool])).reason == "PATH_OUTSIDE"
    assert os.listdir(tmp_path) == ["workspace"]


@pytest.mark.parametrize("path", ["notes/plan.MD", "./notes/Plan.md", '"notes/Plan.md"', "/notes/Plan.md"])
async def test_the_same_file_is_replaced(tools: FileTools, path: str) -> None:
    """A file whose path differs in case, quotes or a leading slash alone is replaced, and the result names it."""
    result = await tools.call("write_file", path=path, content="new")
    assert result.data == {"path": "notes/Plan.md", "change": "replaced, 3 bytes"}
    assert result.effects == (RecordedEffect("file.changed", "notes/Plan.md", "3 bytes"),)
    assert os.listdir(tools.folder / "notes") == ["Plan.md"]


@pytest.mark.parametrize("path", ["Plan.md", "notes/Plan", "notes/Plam.md"])
async def test_a_file_that_only_resembles_is_not_replaced(tools: FileTools, path: str) -> None:
    """A path that merely resembles an existing one is the path of a new file."""
    assert (await tools.done("write_file", path=path, content="new"))["change"] == "created, 3 bytes"
    assert (tools.folder / "notes" / "Plan.md").read_text() == "Meet at 9.\nBring rope.\n"


async def test_writing_what_is_there_changes_nothing(tools: FileTools) -> None:
    """Writing the content that the file has already is no effect."""
    result = await tools.call("write_file", path="shopping.txt", content="milk\neggs")
    assert (result.data, result.effects) == ({"path": "shopping.txt", "change": "unchanged"}, ())


async def test_a_folder_is_not_written(tools: FileTools) -> None:
    """The path of a folder, and one that ends like a folder's, is refused."""
    assert (await tools.call("write_file", path="notes", content="x")).reason == "NOT_A_FILE"
    assert (await tools.call("write_file", path="new/", content="x")).reason == "PATH_INVALID"


async def test_one_text_is_edited(tools: FileTools) -> None:
    """An edit changes one place of a file that is named inexactly, and shows the line as it was and as it is now."""
    result = await tools.call(
        "edit_file", path="plan", changes=[{"replace": "meet at 9", "with": "Meet at 10"}]
    )
    assert result.data == {"path": "notes/Plan.md", "change": "before: Meet at 9.\nnow: Meet at 10."}
    assert result.effects == (RecordedEffect("file.changed", "notes/Plan.md", "24 bytes"),)
    assert (tools.folder / "notes" / "Plan.md").read_text() == "Meet at 10.\nBring rope.\n"


async def test_rows_of_a_table_are_changed_by_statements(tools: FileTools) -> None:
    """A statement changes the rows that it names, behind the other changes; one that fits no row changes nothing at all."""
    (tools.folder / "stock.csv").write_text("what,metres\nrope,30\noar,3\n")
    sql = {"sql": "UPDATE stock SET metres = metres * 2 WHERE metres < 10"}
    result = await tools.call("edit_file", path="stock.csv", changes=[{"add": "anchor,1"}, sql])
    assert result.data == {
        "path": "stock.csv",
        "change": "added: anchor,1\nbefore: oar,3\nanchor,1\nnow: oar,6\nanchor,2",
    }
    assert (tools.folder / "stock.csv").read_text() == "what,metres\nrope,30\noar,6\nanchor,2\n"
    nothing = {"sql": "DELETE FROM stock WHERE what = 'sail'"}
    result = await tools.call("edit_file", path="stock.csv", changes=[{"remove": "rope,30"}, nothing])
    assert result.reason == "NOTHING_CHANGED"
    assert (tools.folder / "stock.csv").read_text() == "what,metres\nrope,30\noar,6\nanchor,2\n"


async def test_a_missing_text_is_an_error_with_candidates(tools: FileTools) -> None:
    """An edit of a text that is not there fails with the nearest lines and changes nothing."""
    result = await tools.call(
        "edit_file", path="notes/Plan.md", changes=[{"replace": "Bring a tent", "with": "x"}]
    )
    assert result.reason == "TEXT_NOT_FOUND"
    assert result.metadata["candidates"] == ["Bring rope."]
    missing = await tools.call("edit_file", path="zebra.txt", changes=[{"replace": "a", "with": "b"}])
    assert missing.reason == "FILE_NOT_FOUND"


async def test_a_large_file_is_not_edited(tools: FileTools) -> None:
    """A file that is too large to be read whole is left alone."""
    with (tools.folder / "large.txt").open("wb") as large:
        large.truncate(17 << 20)
    result = await tools.call("append_file", path="large.txt", text="x")
    assert result.reason == "FILE_TOO_LARGE"
    assert (tools.folder / "large.txt").stat().st_size == 17 << 20


async def test_lines_are_appended(tools: FileTools) -> None:
    """A line is added on its own to a file that is named inexactly, or starts a file that does not exist."""
    result = await tools.call("append_file", path="Shopping", text="tea")
    assert result.data == {"path": "shopping.txt", "change": "added: tea"}
    assert (tools.folder / "shopping.txt").read_text() == "milk\neggs\ntea\n"
    new = await tools.call("append_file", path="'diary/monday.md'", text="rain")
    assert new.data == {"path": "diary/monday.md", "change": "added: rain"}
    assert new.effects == (RecordedEffect("file.created", "diary/monday.md", "5 bytes"),)


async def test_nothing_is_appended_to_one_of_several(tools: FileTools) -> None:
    """A path that several files fit is refused with them."""
    (tools.folder / "shopping.md").touch()
    result = await tools.call("append_file", path="shopping", text="tea")
    assert result.reason == "PATH_AMBIGUOUS"
    assert result.metadata["candidates"] == ["shopping.md", "shopping.txt"]
