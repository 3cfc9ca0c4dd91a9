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


async def test_text_is_found_with_its_line(workspace: Path) -> None:
    """A text is found in any case, with the number and the words of each line that has it, and counted."""
    found = await search(workspace, text="INVOICE")
    assert found["matches"] == [
        "a.md:2: The Invoice of May",
        "sub/c.md:1: an invoice",
        "sub/c.md:3: and another invoice",
    ]
    assert (found["times"], found["lines"], found["files"]) == (3, 3, 2)
    assert (found["note"], found["truncated"]) == ("", False)


async def test_every_occurrence_counts(workspace: Path) -> None:
    """Several occurrences in one line are one match and count severally."""
    (workspace / "b.txt").write_text("tick tick tock\ntick\n")
    found = await search(workspace, text="tick")
    assert (found["times"], found["lines"], found["files"]) == (3, 2, 1)


async def test_accents_make_no_difference(workspace: Path) -> None:
    """A text with accents is found without them, and one without accents is found with them."""
    (workspace / "b.txt").write_text("un caf\u00e9 s'il vous pla\u00eet\nStra\u00dfe\n")
    assert (await search(workspace, text="CAFE"))["matches"] == ["b.txt:1: un caf\u00e9 s'il vous pla\u00eet"]
    assert (await search(workspace, text="an invo\u00efce"))["matches"] == ["sub/c.md:1: an invoice"]


async def test_text_is_found_in_names_too(workspace: Path) -> None:
    """A text that is part of a file's name finds the file, also where its content cannot be searched."""
    (workspace / "sub" / "Invoice 7.txt").write_text("to be paid")
    assert (await search(workspace, path="sub", text="invoice 7"))["matches"] == ["sub/Invoice 7.txt"]
    assert (await search(workspace, text="*.PNG"))["matches"] == ["picture.png"]


async def test_words_are_found_apart(workspace: Path) -> None:
    """A text that is nowhere as a whole is found as lines with all its words, else as files with them."""
    (workspace / "b.txt").write_text("pay the plumber on Monday\nand the baker\n")
    lines = await search(workspace, text="monday plumber")
    assert (lines["matches"], lines["note"]) == (
        ["b.txt:1: pay the plumber on Monday"],
        "lines with all words",
    )
    files = await search(workspace, text="baker plumber")
    assert files["matches"] == ["b.txt:1: pay the plumber on Monday", "b.txt:2: and the baker"]
    assert (files["note"], files["files"]) == ("files with all words", 1)


async def test_nothing_found_names_what_is_near(workspace: Path) -> None:
    """A search that finds nothing says how much was searched and names words and files spelt alike."""
    found = await search(workspace, text="invoyce")
    assert (found["matches"], found["times"]) == ([], 0)
    assert found["note"] == "nothing found in 5 files; there is 'invoice'"
    assert "'picture.png'" in (await search(workspace, text="pictures"))["note"]


async def test_path_narrows_the_search(workspace: Path) -> None:
    """With a folder only what is below it is searched, with a file only that file; both are found inexactly."""
    for folder in ("sub", "sub/", "./sub", "Sub", str(workspace / "sub")):
        found = await search(workspace, path=folder, text="an")
        assert [Path(workspace, match.partition(":")[0]) for match in found["matches"]] == [
            workspace / "sub" / "c.md"
        ] * 2
    assert (await search(workspace, path="A", text="invoice"))["matches"] == ["a.md:2: The Invoice of May"]


async def test_skipped_entries_are_counted(workspace: Path) -> None:
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
    assert "large.md" not in str(found["matches"])
    assert "files over 1 MiB: 1" in found["left_out"]


async def test_matches_are_bounded(workspace: Path) -> None:
    """More matches than fit are cut but counted, and the result says so."""
    (workspace / "many.txt").write_text("needle\n" * MAX_MATCHES)
    assert (await search(workspace, text="needle"))["truncated"] is False
    (workspace / "many.txt").write_text("needle\n" * (MAX_MATCHES + 1))
    found = await search(workspace, text="needle")
    assert (len(found["matches"]), found["times"]) == (MAX_MATCHES, MAX_MATCHES + 1)
    assert found["truncated"] is True


async def test_files_and_bytes_are_bounded(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that has looked at as much as it may stops and says so."""
    monkeypatch.setattr(searching, "MAX_FILES", 1)
    found = await search(workspace, text="invoice")
    assert (found["matches"], found["truncated"]) == (["a.md:2: The Invoice of May"], True)
    monkeypatch.setattr(searching, "MAX_FILES", 1_000)
    monkeypatch.setattr(searching, "MAX_BYTES", 10)
    found = await search(workspace, text="invoice")
    assert (found["matches"], found["truncated"]) == (["a.md:2: The Invoice of May"], True)


async def test_large_folders_are_bounded(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with more entries than a search looks at is searched in part, and the result says so."""
    monkeypatch.setattr(searching, "MAX_FOLDER_ENTRIES", 3)
    found = await search(workspace, text="invoice")
    assert found["truncated"] is True
    assert "folders of more than 3 entries, seen in part: 1" in found["left_out"]


async def test_depth_is_bounded(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders deeper than the limit are not entered, and counted."""
    monkeypatch.setattr(searching, "MAX_DEPTH", 0)
    found = await search(workspace, text=".md")
    assert found["matches"] == ["a.md", "sub/c.md"]
    assert "folders that lie too deep: 1" in found["left_out"]


async def test_long_lines_are_cut(workspace: Path) -> None:
    """A line of any length is shown by its beginning."""
    (workspace / "long.txt").write_text("needle" + "x" * 10_000)
    (match,) = (await search(workspace, text="needle"))["matches"]
    assert len(match) == len("long.txt:1: ") + MAX_LINE_CHARS


async def test_names_that_are_no_text_are_shown(workspace: Path) -> None:
    """A file whose name is no UTF-8 is found and shown in a form that JSON can carry."""
    with open(os.fsencode(workspace) + b"/caf\xe9.md", "wb") as file:
        file.write(b"needle")
    assert (await search(workspace, text="needle"))["matches"] == ["caf\\xe9.md:1: needle"]


@pytest.mark.parametrize("text", ["*", " ", "[", "(.*)+", "\\", "a\nb", "\ud800"])
async def test_strange_texts_are_harmless(workspace: Path, text: str) -> None:
    """A text is no pattern: whatever its characters are, the search ends with a result."""
    result = await use(workspace, text=text)
    assert result.success or result.reason == "ARGUMENTS_INVALID"


async def test_missing_folder_is_an_error(workspace: Path) -> None:
    """A folder that does not exist, or is outside, fails with its reason."""
    assert (await use(workspace, text="x", path="none")).reason == "FILE_NOT_FOUND"
    assert (await use(workspace, text="x", path="..")).reason == "PATH_OUTSIDE"
    assert (await use(workspace, text="x", path="out_dir")).reason == "PATH_OUTSIDE"
