"""Private copies, and what is taken back from them."""

import os
from pathlib import Path

import pytest

from aeond.capabilities.aider.worktrees import MAX_CHANGED, Worktree, clear, context_files, packed, worktree
from aeond.errors import ToolError


def write(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_a_copy_has_what_is_listed_and_harmless(tmp_path: Path) -> None:
    """A copy lacks what git ignores, the repository's data, keys and the configuration of Aider, and is removed afterwards."""
    source = tmp_path / "source"
    for name in (".git/config", ".env", ".aider.conf.yml", ".envrc", "src/a.py", "build/b.py", "c.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("x", encoding="utf-8")
    listed = frozenset({".env", ".aider.conf.yml", ".envrc", "src/a.py", "c.py"})
    for given, names in ((listed, {"src/a.py", "c.py"}), (None, {"src/a.py", "c.py", "build/b.py"})):
        with worktree(tmp_path / "copies", packed(str(source), given)) as copy:
            assert set(copy.before) == names
    assert list((tmp_path / "copies").iterdir()) == []


def test_a_folder_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """A workspace beyond the limits of an archive cannot be copied."""
    with (tmp_path / "large").open("wb") as file:
        file.truncate(65 << 20)
    with pytest.raises(ToolError, match="work in a smaller folder"):
        packed(str(tmp_path), None)


def test_changes_are_read_without_trust(tmp_path: Path) -> None:
    """Links, folders and pipes are refused, names outside are left out, and unchanged files are no changes."""
    tree = Worktree(write(tmp_path, same="1", changed="1", gone="1"))
    write(tmp_path, changed="2", new="3")
    (tmp_path / "gone.py").unlink()
    found, refused = tree.changes(
        ["same.py", "changed.py", "gone.py", "new.py", "../x", "/x", ".git/x", "./new.py", "."]
    )
    assert [(one.path, one.after) for one in found] == [
        ("changed.py", b"2"),
        ("gone.py", None),
        ("new.py", b"3"),
    ]
    assert refused == [".", "../x", "./new.py", ".git/x", "/x"]
    os.symlink("/etc/passwd", tmp_path / "link.py")
    os.symlink("/etc", tmp_path / "folder")
    os.mkfifo(tmp_path / "pipe.py")
    for name in ("link.py", "folder/passwd", "pipe.py"):
        with pytest.raises(ToolError, match="is no regular file"):
            tree.changes([name])


def test_changes_are_bounded(tmp_path: Path) -> None:
    """Too many files, and too large ones, are no proposal."""
    tree = Worktree(tmp_path)
    with pytest.raises(ToolError, match="too many"):
        tree.changes([f"{number}.py" for number in range(MAX_CHANGED + 1)])
    (tmp_path / "large.py").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(ToolError, match="larger than 1 MiB"):
        tree.changes(["large.py"])


def test_files_are_found_for_a_task(tmp_path: Path) -> None:
    """Of a small folder all files are used, else those that the task names, else the nearest; tests are only read."""
    tree = Worktree(write(tmp_path, calc="1", test_calc="2"))
    assert context_files(tree, "Fix it", ()) == (("calc.py",), ("test_calc.py",))
    write(tmp_path, **{f"other{number}": "x" for number in range(9)})
    tree = Worktree(tmp_path)
    assert context_files(tree, "Fix calc.py", ()) == (("calc.py",), ())
    assert context_files(tree, "Fix calc", ("python3", "test_calc.py")) == (("calc.py",), ("test_calc.py",))
    assert len(context_files(tree, "?", ())[0]) == 3


def test_tests_may_be_changed_where_there_is_nothing_else(tmp_path: Path) -> None:
    """A folder of tests alone is changed."""
    assert context_files(Worktree(write(tmp_path, test_calc="2")), "Fix it", ()) == (("test_calc.py",), ())


def test_copies_of_a_killed_daemon_are_removed(tmp_path: Path) -> None:
    """The next start removes what is left, and nothing else."""
    for name in ("work-1/x", "proposals/x"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["proposals"]
