"""The move_file and delete_file tools."""

import os
from pathlib import Path

import pytest

from aeond.domain.tools import RecordedEffect
from tests.support.file_tools import FileTools


@pytest.fixture
def tools(tmp_path: Path) -> FileTools:
    (tmp_path / "docs").mkdir()
    (tmp_path / "archive").mkdir()
    (tmp_path / "docs" / "Draft.md").write_text("draft")
    (tmp_path / "list.txt").write_text("list")
    return FileTools(tmp_path)


@pytest.mark.parametrize(
    ("path", "to", "new"),
    [
        ("list.txt", "final.txt", "final.txt"),
        ("docs/Draft.md", "final.md", "docs/final.md"),
        ("docs/Draft.md", "Draft.md", "Draft.md"),
        ("docs/Draft.md", "./final.md", "final.md"),
        ("docs/draft.MD", "archive", "archive/Draft.md"),
        ("list.txt", "new/", "new/list.txt"),
        ("list.txt", "new/deep/final.txt", "new/deep/final.txt"),
        ("list.txt", "List.txt", "List.txt"),
        ("list.txt", "'other name.txt'", "other name.txt"),
    ],
)
async def test_a_file_is_moved(tools: FileTools, path: str, to: str, new: str) -> None:
    """A file gets the new path; in a folder it keeps its name, and a bare name renames it in its folder."""
    old = "list.txt" if path == "list.txt" else "docs/Draft.md"
    content = (tools.folder / old).read_bytes()
    result = await tools.call("move_file", path=path, to=to)
    assert result.data == {"path": old, "change": f"moved to {new}"}
    assert result.effects == (RecordedEffect("file.moved", old, new),)
    assert (tools.folder / new).read_bytes() == content
    assert not (tools.folder / old).exists()


async def test_an_existing_file_is_not_replaced(tools: FileTools) -> None:
    """A new path that is taken is refused, and both files stay."""
    result = await tools.call("move_file", path="list.txt", to="docs/Draft.md")
    assert result.reason == "FILE_EXISTS"
    assert (tools.folder / "docs" / "Draft.md").read_text() == "draft"
    assert (tools.folder / "list.txt").read_text() == "list"


@pytest.mark.parametrize("to", ["../out.txt", "/etc/out.txt", "/etc"])
async def test_nothing_is_moved_outside(tools: FileTools, to: str) -> None:
    """A new path outside of the workspace is refused."""
    assert (await tools.call("move_file", path="list.txt", to=to)).reason == "PATH_OUTSIDE"
    assert (tools.folder / "list.txt").exists()


@pytest.mark.parametrize("path", ["list.txt", "LIST.txt", "/list.txt", '"list.txt"'])
async def test_a_file_is_deleted(tools: FileTools, path: str) -> None:
    """The file with this path, but for case, quotes and a leading slash, is deleted."""
    result = await tools.call("delete_file", path=path)
    assert result.data == {"path": "list.txt", "change": "deleted"}
    assert result.effects == (RecordedEffect("file.deleted", "list.txt", "4 bytes"),)
    assert sorted(os.listdir(tools.folder)) == ["archive", "docs"]


@pytest.mark.parametrize("path", ["list", "Draft.md", "lists.txt", "docs/list.txt"])
@pytest.mark.parametrize("tool", ["delete_file", "move_file"])
async def test_a_file_that_only_resembles_is_left_alone(tools: FileTools, tool: str, path: str) -> None:
    """A path that merely resembles an existing one is an error with that one as a candidate."""
    arguments = {"to": "x.txt"} if tool == "move_file" else {}
    result = await tools.call(tool, path=path, **arguments)
    assert result.reason == "FILE_NOT_FOUND"
    candidates = result.metadata["candidates"]
    assert isinstance(candidates, list)
    assert candidates[0] == ("docs/Draft.md" if path == "Draft.md" else "list.txt")
    assert (tools.folder / "list.txt").exists()
    assert (tools.folder / "docs" / "Draft.md").exists()


async def test_folders_links_and_protected_files_are_left_alone(tools: FileTools) -> None:
    """Only regular files that may be written are deleted or moved."""
    (tools.folder / "link.txt").symlink_to("list.txt")
    (tools.folder / "fixed.txt").touch(0o444)
    for path, reason in (("docs", "NOT_A_FILE"), ("link.txt", "NOT_A_FILE"), ("fixed.txt", "FILE_FORBIDDEN")):
        assert (await tools.call("delete_file", path=path)).reason == reason
        assert (await tools.call("move_file", path=path, to="archive/x")).reason == reason
    assert (tools.folder / "link.txt").is_symlink()
    assert os.listdir(tools.folder / "archive") == []
