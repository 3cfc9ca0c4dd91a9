"""The read_file and list_dir tools."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.reading import MAX_ENTRIES, MAX_READ_BYTES, list_dir_tool, read_file_tool
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import ToolCall, ToolResult
from tests.support.tools import CONTEXT, invoker_of, within


async def use(tool: str, workspace: Path, **arguments: Any) -> ToolResult:
    files, threads = ContainedFiles(resolve_in_kernel), WorkerThreads()
    invoker = invoker_of(read_file_tool(files, threads), list_dir_tool(files, threads))
    return await invoker.invoke(ToolCall(tool, arguments, "call1"), within(CONTEXT, workspace))


async def data(tool: str, workspace: Path, **arguments: Any) -> Any:
    result = await use(tool, workspace, **arguments)
    assert result.success, result.error
    return result.data


async def test_small_file_is_read_whole(tmp_path: Path) -> None:
    """A text file comes back whole, whatever its line ends and letters."""
    text = "one\r\ntwo\n\u00fc\U0001f600\t"
    (tmp_path / "a.txt").write_bytes(text.encode())
    assert await data("read_file", tmp_path, path="a.txt") == {
        "path": "a.txt",
        "truncated": False,
        "next_offset": len(text.encode()),
        "text": text,
    }


async def test_empty_file_is_read(tmp_path: Path) -> None:
    """An empty file is an empty text and no failure."""
    (tmp_path / "a.txt").touch()
    assert (await data("read_file", tmp_path, path="a.txt"))["text"] == ""


@pytest.mark.parametrize("letter", ["x", "\u00fc", "\u20ac", "\U0001f600"])
async def test_large_file_is_read_in_pieces(tmp_path: Path, letter: str) -> None:
    """A file larger than one reading comes in pieces that join without a gap, between whole letters."""
    text = "." + letter * (MAX_READ_BYTES // 2)
    (tmp_path / "a.txt").write_text(text)
    pieces, offset = [], 0
    for _ in range(10):
        piece = await data("read_file", tmp_path, path="a.txt", offset=offset)
        pieces.append(piece["text"])
        offset = piece["next_offset"]
        if not piece["truncated"]:
            break
    assert "".join(pieces) == text
    assert all(len(piece.encode()) <= MAX_READ_BYTES for piece in pieces)


async def test_text_that_fills_one_reading_is_whole(tmp_path: Path) -> None:
    """A file of exactly the largest reading is whole, and one byte more is not."""
    (tmp_path / "a.txt").write_text("x" * MAX_READ_BYTES)
    assert (await data("read_file", tmp_path, path="a.txt"))["truncated"] is False
    (tmp_path / "a.txt").write_text("x" * (MAX_READ_BYTES + 1))
    assert (await data("read_file", tmp_path, path="a.txt"))["truncated"] is True


async def test_offset_behind_the_end_is_empty(tmp_path: Path) -> None:
    """Reading from behind the end gives nothing more."""
    (tmp_path / "a.txt").write_text("text")
    piece = await data("read_file", tmp_path, path="a.txt", offset=2**53)
    assert (piece["text"], piece["truncated"]) == ("", False)


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n", b"text\0text", b"\xff\xfe", b"caf\xe9", b"\xe2\x82"]
)
async def test_a_binary_file_is_rejected(tmp_path: Path, content: bytes) -> None:
    """A file that is no UTF-8 text is refused as such."""
    (tmp_path / "a.txt").write_bytes(content)
    assert (await use("read_file", tmp_path, path="a.txt")).reason == "NOT_TEXT"


async def test_control_characters_fit_the_result(tmp_path: Path) -> None:
    """The text that grows most when written as JSON still fits the result."""
    (tmp_path / "a.txt").write_text("\x01" * MAX_READ_BYTES)
    assert (await use("read_file", tmp_path, path="a.txt")).success


async def test_unreadable_path_keeps_its_reason(tmp_path: Path) -> None:
    """The reason of the containment is the reason of the result."""
    assert (await use("read_file", tmp_path, path="none.txt")).reason == "FILE_NOT_FOUND"
    assert (await use("read_file", tmp_path, path="../x")).reason == "PATH_OUTSIDE"
    assert (await use("list_dir", tmp_path, path="none")).reason == "FILE_NOT_FOUND"
    assert (await use("list_dir", tmp_path, path="/etc")).reason == "PATH_OUTSIDE"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files, a folder, a link and a FIFO, with sizes and times of their own."""
    for name, size, modified in (("b.txt", 30, 300), ("a.txt", 10, 100), ("c.txt", 20, 200)):
        (tmp_path / name).write_text("x" * size)
        os.utime(tmp_path / name, (modified, modified))
    (tmp_path / "sub").mkdir()
    os.utime(tmp_path / "sub", (50, 50))
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "fifo")
    for name in ("link", "fifo"):
        os.utime(tmp_path / name, (10, 10), follow_symlinks=False)
    return tmp_path


async def test_working_folder_is_listed(folder: Path) -> None:
    """The working folder is listed when no path is given: names with sizes, and folders."""
    listing = await data("list_dir", folder, sort="name")
    assert listing == {
        "path": ".",
        "files": 5,
        "folders": 1,
        "truncated": False,
        "entries": [
            "a.txt 10",
            "b.txt 30",
            "c.txt 20",
            "fifo (not a file)",
            "link (not a file)",
            "sub/",
        ],
    }


async def test_times_are_listed_on_request(folder: Path) -> None:
    """Sorted by time, the newest comes first and each file has its local time."""
    newest = datetime.fromtimestamp(300, UTC).astimezone()
    listing = await data("list_dir", folder, sort="modified")
    assert listing["entries"][0] == f"b.txt {newest:%Y-%m-%d %H:%M}"
    assert [entry.partition(" ")[0] for entry in listing["entries"]][:3] == ["b.txt", "c.txt", "a.txt"]


async def test_largest_file_is_first_unless_asked_otherwise(folder: Path) -> None:
    """Without an order the entries come from the largest to the smallest."""
    listing = await data("list_dir", folder)
    assert listing["entries"][:3] == ["b.txt 30", "c.txt 20", "a.txt 10"]
    assert listing == await data("list_dir", folder, sort="size")


async def test_empty_folder_is_no_failure(folder: Path) -> None:
    """A folder without files is an empty list."""
    listing = await data("list_dir", folder, path="sub")
    assert (listing["entries"], listing["files"], listing["folders"]) == ([], 0, 0)


async def test_path_of_a_file_lists_the_file(folder: Path) -> None:
    """A file where a folder is expected is listed alone."""
    listing = await data("list_dir", folder, path="b.txt")
    assert (listing["path"], listing["entries"]) == ("b.txt", ["b.txt 30"])


async def test_large_folder_is_cut_and_counted(tmp_path: Path) -> None:
    """A folder with more entries than fit is cut, while the counts are those of all."""
    last = f"f{MAX_ENTRIES + 49:04}"
    for number in range(MAX_ENTRIES + 50):
        (tmp_path / f"f{number:04}").write_bytes(b"x" * (number == MAX_ENTRIES + 49))
    os.utime(tmp_path / last, (2**31, 2**31))
    listing = await data("list_dir", tmp_path, sort="name")
    assert len(listing["entries"]) == MAX_ENTRIES
    assert f"{last} 1" not in listing["entries"]
    assert (listing["files"], listing["truncated"]) == (MAX_ENTRIES + 50, True)
    for sort in ("size", "modified"):
        assert (await data("list_dir", tmp_path, sort=sort))["entries"][0].startswith(last)


async def test_strange_names_and_times_are_listed(tmp_path: Path) -> None:
    """A name that is no UTF-8 and a time that no calendar has are shown in a form that JSON can carry."""
    raw = os.fsencode(tmp_path) + b"/caf\xe9"
    with open(raw, "wb"):
        pass
    os.utime(raw, (-(2**33), -(2**33)))
    (tmp_path / "far").touch()
    os.utime(tmp_path / "far", (2**33, 2**33))
    for sort in ("name", "modified"):
        listing = await data("list_dir", tmp_path, sort=sort)
        assert sorted(entry.partition(" ")[0] for entry in listing["entries"]) == ["caf\\xe9", "far"]


async def test_unknown_order_is_refused(folder: Path) -> None:
    """An order that does not exist is refused, and the message lists the existing ones."""
    result = await use("list_dir", folder, sort="colour")
    assert result.reason == "ARGUMENTS_INVALID"
    assert "modified" in result.error


async def test_path_that_was_read_is_in_the_result(tmp_path: Path) -> None:
    """A path that is not exact is accepted if one file fits it, and the result has the path that was read."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "Plan.md").write_text("text")
    found = await data("read_file", tmp_path, path="plan")
    assert (found["path"], found["text"]) == ("notes/Plan.md", "text")


async def test_missing_file_is_an_error_with_candidates(tmp_path: Path) -> None:
    """Where nothing fits, the failure names existing files, in words and as data."""
    (tmp_path / "letter.md").touch()
    result = await use("read_file", tmp_path, path="zebra.png")
    assert (result.success, result.reason) == (False, "FILE_NOT_FOUND")
    assert result.error == "'zebra.png' does not exist; there is 'letter.md'"
    assert result.metadata["candidates"] == ["letter.md"]


async def test_existing_paths_are_proposed(folder: Path) -> None:
    """Files are proposed for reading, and folders for listing."""
    files, threads = ContainedFiles(resolve_in_kernel), WorkerThreads()
    invoker = invoker_of(read_file_tool(files, threads), list_dir_tool(files, threads))
    context = within(CONTEXT, folder)
    assert await invoker.candidates("read_file", "path", context, 10) == ("a.txt", "b.txt", "c.txt")
    assert await invoker.candidates("list_dir", "path", context, 10) == ("sub",)
