"""The search_files tool."""

import os
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.tools.files import searching
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.files.searching import MAX_LINE_CHARS, MAX_MATCHES, search_files_tool
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import ToolCall, ToolResult
from tests.support.tools import CONTEXT, invoker_of, within


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Notes in folders, a binary file, a hidden folder and links out."""
    work = tmp_path / "work"
    (work / "sub" / "deep").mkdir(parents=True)
    (work / ".git").mkdir()
    (work / "a.md").write_text("first\nThe Invoice of May\n")
    (work / "b.txt").write_text("nothing here\n")
    (work / "sub" / "c.md").write_text("an invoice\n\n  and another invoice  \n")
    (work / "sub" / "deep" / "D.MD").write_text("end")
    (work / ".git" / "config").write_text("invoice")
    (work / "picture.png").write_bytes(b"\x89PNG\0invoice")
    (tmp_path / "outside.md").write_text("invoice outside")
    (work / "out.md").symlink_to("../outside.md")
    (work / "out_dir").symlink_to("..")
    os.mkfifo(work / "fifo.md")
    return work


async def use(workspace: Path, **arguments: Any) -> ToolResult:
    tool = search_files_tool(ContainedFiles(resolve_in_kernel), WorkerThreads())
    return await invoker_of(tool).invoke(
        ToolCall("search_files", arguments, "call1"), within(CONTEXT, workspace)
    )


async def search(workspace: Path, **arguments: Any) -> Any:
    result = await use(workspace, **arguments)
    assert result.success, result.error
    return result.data


def paths(found: Any) -> list[str]:
    return [match["path"] for match in found["matches"]]


async def test_names_are_matched_by_pattern(workspace: Path) -> None:
    """A pattern finds files by name in every folder below, whatever the case of their letters."""
    found = await search(workspace, name="*.md")
    assert paths(found) == ["a.md", "sub/c.md", "sub/deep/D.MD"]
    assert found["matches"][0] == {"path": "a.md", "line": 0, "text": ""}
    assert found["truncated"] is False


async def test_text_is_found_with_its_line(workspace: Path) -> None:
    """A text is found in any case, with the number and the words of each line that has it."""
    found = await search(workspace, text="INVOICE")
    assert found["matches"] == [
        {"path": "a.md", "line": 2, "text": "The Invoice of May"},
        {"path": "sub/c.md", "line": 1, "text": "an invoice"},
        {"path": "sub/c.md", "line": 3, "text": "and another invoice"},
    ]


async def test_text_is_found_in_names_too(workspace: Path) -> None:
    """A text that is part of a file's name finds the file, also where its content cannot be searched."""
    (workspace / "sub" / "Invoice 7.txt").write_text("to be paid")
    assert (await search(workspace, path="sub", text="invoice 7"))["matches"] == [
        {"path": "sub/Invoice 7.txt", "line": 0, "text": ""}
    ]
    assert paths(await search(workspace, text=".PNG")) == ["picture.png"]


async def test_name_and_text_must_both_fit(workspace: Path) -> None:
    """With a name and a text only files that have both are found."""
    assert paths(await search(workspace, name="c*", text="invoice")) == ["sub/c.md", "sub/c.md"]
    assert paths(await search(workspace, name="*.txt", text="invoice")) == []


async def test_everything_is_listed_without_a_question(workspace: Path) -> None:
    """Without name and text all files are listed."""
    assert paths(await search(workspace)) == ["a.md", "b.txt", "picture.png", "sub/c.md", "sub/deep/D.MD"]


async def test_folder_narrows_the_search(workspace: Path) -> None:
    """With a folder only what is below it is searched, and paths can be handed to read_file as they are."""
    for folder in ("sub", "sub/", "./sub", str(workspace / "sub")):
        found = await search(workspace, path=folder, name="*.md")
        assert [str(Path(workspace, path)) for path in paths(found)] == [
            str(workspace / "sub" / "c.md"),
            str(workspace / "sub" / "deep" / "D.MD"),
        ]


async def test_what_was_left_out_is_told(workspace: Path) -> None:
    """Links, hidden folders, special files and binary files are passed over, and counted."""
    found = await search(workspace, text="invoice")
    assert found["left_out"] == [
        "binary files: 1",
        "hidden folders: 1",
        "links, which are not followed: 2",
        "special files: 1",
    ]
    assert "outside" not in str(found["matches"])


async def test_large_files_are_left_out(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file over the limit is not searched, and counted."""
    monkeypatch.setattr(searching, "MAX_FILE_BYTES", 1 << 20)
    (workspace / "large.md").write_text("invoice\n" + "x" * (1 << 20))
    found = await search(workspace, text="invoice")
    assert "large.md" not in paths(found)
    assert "files over 1 MiB: 1" in found["left_out"]


async def test_matches_are_bounded(workspace: Path) -> None:
    """More matches than fit are cut, and the result says so."""
    (workspace / "many.txt").write_text("needle\n" * MAX_MATCHES)
    assert (await search(workspace, text="needle"))["truncated"] is False
    (workspace / "many.txt").write_text("needle\n" * (MAX_MATCHES + 1))
    found = await search(workspace, text="needle")
    assert (len(found["matches"]), found["truncated"]) == (MAX_MATCHES, True)


async def test_files_and_bytes_are_bounded(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that has looked at as much as it may stops and says so."""
    monkeypatch.setattr(searching, "MAX_FILES", 2)
    found = await search(workspace)
    assert (found["files_seen"], found["truncated"]) == (2, True)
    monkeypatch.setattr(searching, "MAX_FILES", 1_000)
    monkeypatch.setattr(searching, "MAX_BYTES", 10)
    found = await search(workspace, text="invoice")
    assert (paths(found), found["truncated"]) == (["a.md"], True)


async def test_large_folders_are_bounded(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with more entries than a search looks at is searched in part, and the result says so."""
    monkeypatch.setattr(searching, "MAX_FOLDER_ENTRIES", 3)
    found = await search(workspace)
    assert found["truncated"] is True
    assert "folders of more than 3 entries, seen in part: 1" in found["left_out"]


async def test_depth_is_bounded(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders deeper than the limit are not entered, and counted."""
    monkeypatch.setattr(searching, "MAX_DEPTH", 0)
    found = await search(workspace, name="*.md")
    assert paths(found) == ["a.md", "sub/c.md"]
    assert "folders that lie too deep: 1" in found["left_out"]


async def test_long_lines_are_cut(workspace: Path) -> None:
    """A line of any length is shown by its beginning."""
    (workspace / "long.txt").write_text("needle" + "x" * 10_000)
    (match,) = (await search(workspace, text="needle"))["matches"]
    assert len(match["text"]) == MAX_LINE_CHARS


async def test_names_that_are_no_text_are_shown(workspace: Path) -> None:
    """A file whose name is no UTF-8 is found and shown in a form that JSON can carry."""
    with open(os.fsencode(workspace) + b"/caf\xe9.md", "wb") as file:
        file.write(b"needle")
    assert paths(await search(workspace, text="needle")) == ["caf\\xe9.md"]


@pytest.mark.parametrize(
    "name", ["*" * 100, "[" * 100, "[!", "a" * 50 + "*" * 50, "\\", "*?*?*?*?*?*?*?*?*?*?x"]
)
async def test_strange_patterns_are_harmless(workspace: Path, name: str) -> None:
    """A pattern that is no good name pattern finds what it finds, without error and without delay."""
    (workspace / ("a" * 200)).touch()
    assert (await use(workspace, name=name)).success


async def test_missing_folder_is_told(workspace: Path) -> None:
    """A folder that is not there, or outside, fails with its reason."""
    assert (await use(workspace, path="none")).reason == "FILE_NOT_FOUND"
    assert (await use(workspace, path="..")).reason == "PATH_OUTSIDE"
    assert (await use(workspace, path="out_dir")).reason == "PATH_OUTSIDE"
