from pathlib import Path

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.relevance.related_lines import (
    MAX_FILE_BYTES,
    MAX_LINE_CHARS,
    MAX_READ_CHARS,
    related,
)


def found(folder: Path, request: str, *paths: str, stopped: bool = False) -> tuple[tuple[str, str], ...]:
    files = ContainedFiles(resolve_in_kernel)
    return related(files, str(folder), paths, request, lambda: stopped).lines


def test_lines_come_with_their_place(tmp_path: Path) -> None:
    """A line comes with its file, on one line and cut where it is long."""
    (tmp_path / "a.txt").write_text(
        "nothing\n\n  the lighthouse   keeper\t" + "x" * 500 + "\n" + "other\n" * 30
    )
    ((place, text),) = found(tmp_path, "who keeps the lighthouse", "a.txt")
    assert place == "a.txt"
    assert text.startswith("the lighthouse keeper xxx")
    assert len(text) == MAX_LINE_CHARS


def test_unreadable_files_are_skipped(tmp_path: Path) -> None:
    """Binary files, missing files, and text beyond the first bytes of a file do not count."""
    (tmp_path / "b.bin").write_bytes(b"lighthouse\0")
    (tmp_path / "long.txt").write_text("word\n" * MAX_FILE_BYTES + "lighthouse\n")
    assert found(tmp_path, "lighthouse", "b.bin", "none.txt", "long.txt") == ()


def test_a_stopped_search_finds_nothing_more(tmp_path: Path) -> None:
    """After a cancel no file is opened."""
    (tmp_path / "a.txt").write_text("lighthouse\n" + "other\n" * 30)
    assert found(tmp_path, "lighthouse", "a.txt")
    assert found(tmp_path, "lighthouse", "a.txt", stopped=True) == ()


def test_long_files_are_not_near(tmp_path: Path) -> None:
    """A file that is too long to be read as a whole is not among the nearest, nor is one that shares less than it."""
    (tmp_path / "lighthouse.txt").write_text("keeper\n" * 20)
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text("nothing\n")
    names = ("lighthouse.txt", *(f"{number}.txt" for number in range(4)))
    files = ContainedFiles(resolve_in_kernel)
    request = "the keeper of the lighthouse"
    assert related(files, str(tmp_path), names, request, lambda: False).nearest == ("lighthouse.txt",)
    (tmp_path / "lighthouse.txt").write_text("keeper\n" * MAX_READ_CHARS)
    assert related(files, str(tmp_path), names, request, lambda: False).nearest == ()
