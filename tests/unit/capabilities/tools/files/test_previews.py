from pathlib import Path

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.previews import MAX_DEPTH, MAX_LINE_CHARS, file_names, previews
from aeond.capabilities.tools.files.safe_open import best_resolver


def files() -> ContainedFiles:
    return ContainedFiles(best_resolver())


def furnished(folder: Path) -> str:
    (folder / "club").mkdir()
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("hidden")
    (folder / "club" / "rules.md").write_text("---\n\n#  Rules of\tthe club\nNo noise.\n")
    (folder / "a.csv").write_text("name,fee\n" + "x" * 500)
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\0\0abc")
    (folder / "link").symlink_to("/etc")
    return str(folder)


def test_names_are_sorted_and_complete(tmp_path: Path) -> None:
    """Files in folders are found; hidden entries and links are not."""
    names = file_names(files(), furnished(tmp_path), lambda: False)
    assert names == ["a.csv", "club/rules.md", "photo.jpg"]


def test_deep_folders_are_left_out(tmp_path: Path) -> None:
    """The walk ends at a depth, whatever the folders hold."""
    deep = tmp_path
    for level in range(MAX_DEPTH + 4):
        deep /= f"d{level}"
    deep.mkdir(parents=True)
    (deep / "far.txt").write_text("far")
    assert file_names(files(), str(tmp_path), lambda: False) == []


def test_the_first_telling_line_is_shown(tmp_path: Path) -> None:
    """A line of symbols is skipped, a long line is cut, and a file that is not text has no line."""
    place = furnished(tmp_path)
    seen = previews(files(), place, ["club/rules.md", "a.csv", "photo.jpg", "gone"], lambda: False)
    lines = {name: one.line for name, one in seen.items()}
    assert lines == {"club/rules.md": "# Rules of the club", "a.csv": "name,fee", "photo.jpg": ""}
    assert all(len(line) <= MAX_LINE_CHARS for line in lines.values())


def test_size_and_age_are_those_of_the_file(tmp_path: Path) -> None:
    """A preview has the size of the file, and the time of its last change."""
    place = furnished(tmp_path)
    seen = previews(files(), place, ["a.csv", "photo.jpg"], lambda: False)
    assert {name: one.size for name, one in seen.items()} == {"a.csv": 509, "photo.jpg": 7}
    assert seen["a.csv"].changed == (tmp_path / "a.csv").stat().st_mtime_ns


def test_a_stopped_walk_ends(tmp_path: Path) -> None:
    """A stopped walk ends without listing the rest of the folder."""
    assert file_names(files(), furnished(tmp_path), lambda: True) == []
    assert previews(files(), str(tmp_path), ["a.csv"], lambda: True) == {}
