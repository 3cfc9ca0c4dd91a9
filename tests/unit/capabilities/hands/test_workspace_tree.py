"""The tree of a workspace, before and after a command."""

from pathlib import Path

import pytest

from aeond.capabilities.hands import workspace_tree
from aeond.capabilities.hands.workspace_tree import Tree, difference, missing_folders, seen
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.errors import ToolError

FILES = ContainedFiles(resolve_in_kernel)


def tree(folder: Path, keep_bytes: int = 100) -> Tree:
    return seen(FILES, str(folder), lambda: False, keep_bytes=keep_bytes)


def searched(folder: Path, before: Tree) -> Tree:
    return seen(FILES, str(folder), lambda: False, known=before.protected.values())


def made(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path, encoding="utf-8")


def test_changed_files_are_found(tmp_path: Path) -> None:
    """Created, changed and deleted files are distinguished; unchanged files are not listed."""
    made(tmp_path, "kept", "sub/changed", "deleted")
    before = tree(tmp_path)
    (tmp_path / "sub/changed").write_text("anew", encoding="utf-8")
    (tmp_path / "deleted").unlink()
    made(tmp_path, "new/deep/file")
    (tmp_path / "link").symlink_to("kept")
    found = difference(before, tree(tmp_path))
    assert found.created == ("link", "new/deep/file")
    assert (found.changed, found.deleted) == (("sub/changed",), ("deleted",))
    assert missing_folders("new/deep/file", before) == ("new", "new/deep")
    assert missing_folders("sub/changed", before) == ()


def test_contents_are_kept_within_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The contents of small files are kept as long as there is room; a large file is listed without."""
    made(tmp_path, "a", "b")
    (tmp_path / "large").write_bytes(bytes(101))
    assert {path: state.content for path, state in tree(tmp_path).kept.items()} == {"a": b"a", "b": b"b"}
    assert "large" in tree(tmp_path).files
    monkeypatch.setattr(workspace_tree, "MAX_KEPT_BYTES", 1)
    assert len(tree(tmp_path).kept) == 1


def test_protected_names_are_not_writable(tmp_path: Path) -> None:
    """Files and folders of protected names are read-only, at any depth, and what is below them is not listed."""
    made(tmp_path, ".git/config", "sub/.envrc", "sub/code.py")
    found = tree(tmp_path)
    assert found.writable() == {".git": False, "sub/.envrc": False}
    assert set(found.files) == {"sub/code.py"}


def test_a_folder_with_many_protected_names_is_read_only(tmp_path: Path) -> None:
    """The number of mounts is bounded: the folder with the most protected names becomes read-only as a whole."""
    made(tmp_path, ".git/config", *(f"modules/m{number}/.npmrc" for number in range(80)))
    assert tree(tmp_path).writable() == {".git": False, "modules": False}


def test_a_link_of_a_protected_name_closes_its_folder(tmp_path: Path) -> None:
    """A link cannot be mounted upon, so that the folder that holds it is read-only."""
    made(tmp_path, "elsewhere")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.bashrc").symlink_to("../elsewhere")
    assert tree(tmp_path).writable() == {"sub": False}
    (tmp_path / ".profile").symlink_to("elsewhere")
    assert tree(tmp_path).writable() == {"": False}


def test_pairs_of_names_are_protected_below_the_workspace(tmp_path: Path) -> None:
    """A pair of names is protected also if the workspace is its first; a workspace that is protected itself is not."""
    made(tmp_path, ".config/systemd/x", ".ssh/notes")
    assert tree(tmp_path / ".config").writable() == {"systemd": False}
    assert tree(tmp_path / ".ssh").writable() == {}


def test_a_new_protected_name_is_defused(tmp_path: Path) -> None:
    """A new file of a protected name is renamed to a free name, with its content; one that has moved is not new."""
    made(tmp_path, "sub/.git/config", "sub/.git.refused/x")
    before = tree(tmp_path)
    (tmp_path / "sub").rename(tmp_path / "moved")
    made(tmp_path, "moved/.envrc", "moved/.envrc.refused")
    after = searched(tmp_path, before)
    assert (after.renamed, after.left) == (["moved/.envrc.refused2"], [])
    assert list(after.protected) == ["moved/.git"]
    assert (tmp_path / "moved/.envrc.refused2").read_text(encoding="utf-8") == "moved/.envrc"


def test_beyond_the_bound_protected_names_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree with too many entries is not listed, so that nothing seems deleted, but its protected names are found."""
    made(tmp_path, "a")
    before = tree(tmp_path)
    monkeypatch.setattr(workspace_tree, "MAX_ENTRIES", 4)
    made(tmp_path, "b", "c", "d", "x/y/z/.envrc")
    after = searched(tmp_path, before)
    assert (before.whole, after.whole) == (True, False)
    found = difference(before, after)
    assert (found.created, found.changed, found.deleted) == ((), (), ())
    assert after.renamed == ["x/y/z/.envrc.refused"]


def test_a_search_that_is_cut_off_has_renamed_what_it_found(tmp_path: Path) -> None:
    """A protected name is renamed when the search meets it, and not only after its end."""
    made(tmp_path, ".envrc", "x/y")
    looks = iter([False, True])
    with pytest.raises(ToolError, match="was stopped"):
        seen(FILES, str(tmp_path), lambda: next(looks), known=())
    assert sorted(path.name for path in tmp_path.iterdir()) == [".envrc.refused", "x"]


def test_an_abandoned_comparison_stops(tmp_path: Path) -> None:
    """The comparison ends once it is stopped."""
    with pytest.raises(ToolError) as caught:
        seen(FILES, str(tmp_path), lambda: True)
    assert caught.value.reason == "STOPPED"
