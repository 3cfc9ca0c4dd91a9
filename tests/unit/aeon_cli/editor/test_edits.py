"""Differences of files for an editor."""

from pathlib import Path

from aeon_cli.editor.edits import MAX_BYTES, Snapshot, difference, hunks, path_in, snapshot


def test_a_change_has_the_text_before_and_after(tmp_path: Path) -> None:
    """A file that was changed after its snapshot is shown with both texts, a created one with the new text."""
    file = tmp_path / "a.txt"
    file.write_text("old")
    before = snapshot(file)
    file.write_text("new")
    changed = difference(before, created=False)
    created = difference(before, created=True)
    assert changed is not None
    assert created is not None
    assert (changed.path, changed.old_text, changed.new_text) == (str(file), "old", "new")
    assert (created.old_text, created.new_text) == (None, "new")


def test_an_unusable_file_has_no_difference(tmp_path: Path) -> None:
    """A file without a change, without a text before, or that is large or not text has no difference."""
    file = tmp_path / "a.txt"
    file.write_text("same")
    assert difference(snapshot(file), created=False) is None
    assert difference(Snapshot(file, None), created=False) is None
    for content in (b"\xff\xfe", b"x" * (MAX_BYTES + 1)):
        file.write_bytes(content)
        assert snapshot(file).text is None
        assert difference(Snapshot(file, "before"), created=False) is None


def test_paths_stay_in_the_folder(tmp_path: Path) -> None:
    """Only names of files below the folder are paths, also behind links."""
    (tmp_path / "link").symlink_to("/etc")
    assert path_in(tmp_path, "a/b.txt") == tmp_path / "a" / "b.txt"
    for name in ("../a", "/etc/hosts", "link/hosts", "", "a\0b", 3, None):
        assert path_in(tmp_path, name) is None


def test_each_hunk_is_a_difference() -> None:
    """A unified diff becomes one pair of texts for each hunk, with its context."""
    text = (
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n@@ -9 +9,2 @@\n last\n+more\n\\ No newline\n"
    )
    found = [(part.old_text, part.new_text) for part in hunks(Path("/w/x"), text)]
    assert found == [("same\nold", "same\nnew"), ("last", "last\nmore")]
