"""Private copies, and the changes that are taken back from them."""

import os
import shutil
from pathlib import Path

import pytest

from aeond.capabilities.aider.worktrees import (
    DANGEROUS,
    IRREGULAR,
    MAX_CHANGED,
    MAX_FILE_BYTES,
    NO_NAME,
    REPLACED,
    TOO_LARGE,
    TOO_MANY,
    Chosen,
    Worktree,
    clear,
    context_files,
    packed,
    worktree,
)
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
        with worktree(tmp_path / "copies", packed(str(source), given, [])) as copy:
            assert set(copy.before) == names
    assert list((tmp_path / "copies").iterdir()) == []


def test_a_copy_lacks_the_daemons_own_files(tmp_path: Path) -> None:
    """A hidden file, another link to it, and everything in a hidden folder are left out, with and without a repository."""
    source = tmp_path / "source"
    for name in ("keys/openai", "state/deep/journal", "a.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("x", encoding="utf-8")
    os.link(source / "keys/openai", source / "other")
    hidden = [source / "keys/openai", source / "state", source / "missing"]
    for listed in (None, frozenset({"keys/openai", "other", "state/deep/journal", "a.py"})):
        with worktree(tmp_path / "copies", packed(str(source), listed, hidden)) as copy:
            assert set(copy.before) == {"a.py"}


def test_a_folder_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """A workspace beyond the limits of an archive cannot be copied."""
    with (tmp_path / "large").open("wb") as file:
        file.truncate(65 << 20)
    with pytest.raises(ToolError, match="work in a smaller folder"):
        packed(str(tmp_path), None, [])


def test_changes_are_read_without_trust(tmp_path: Path) -> None:
    """Links, folders, pipes and names outside are left out with the reason, and unchanged files are no changes."""
    tree = Worktree(write(tmp_path, same="1", changed="1", gone="1"))
    write(tmp_path, changed="2", new="3")
    (tmp_path / "gone.py").unlink()
    os.symlink("/etc/passwd", tmp_path / "link.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder").mkdir()
    outside = ["../x", "/x", "//x", "./new.py", ".", "a\0b", "a\udcff"]
    irregular = ["link.py", "pipe.py", "folder"]
    found, left_out = tree.changes(
        ["same.py", "changed.py", "gone.py", "new.py", ".git/x", *outside, *irregular]
    )
    assert [(one.path, one.after) for one in found] == [
        ("changed.py", b"2"),
        ("gone.py", None),
        ("new.py", b"3"),
    ]
    assert left_out == {
        ".git/x": DANGEROUS,
        **dict.fromkeys(outside, NO_NAME),
        **dict.fromkeys(irregular, IRREGULAR),
    }


def test_a_folder_in_place_of_a_file_is_a_deletion(tmp_path: Path) -> None:
    """A file that became a folder is deleted, and the files in the folder are new; the deletion comes first."""
    (tmp_path / "tool").write_text("1", encoding="utf-8")
    tree = Worktree(tmp_path)
    (tmp_path / "tool").unlink()
    (tmp_path / "tool").mkdir()
    write(tmp_path / "tool", main="2")
    found, left_out = tree.changes(["tool/main.py", "tool"])
    assert [(one.path, one.after) for one in found] == [("tool", None), ("tool/main.py", b"2")]
    assert left_out == {}


@pytest.mark.parametrize("link", [False, True])
def test_a_file_or_link_in_place_of_a_folder_is_left_out(link: bool, tmp_path: Path) -> None:
    """A folder that became a file or a link stays as it was, with its files, since apply_changes removes no folders."""
    (tmp_path / "pkg").mkdir()
    write(tmp_path / "pkg", a="1")
    tree = Worktree(tmp_path)
    shutil.rmtree(tmp_path / "pkg")
    if link:
        os.symlink("/etc", tmp_path / "pkg")
    else:
        (tmp_path / "pkg").write_text("2", encoding="utf-8")
    found, left_out = tree.changes(["pkg", "pkg/a.py"])
    assert found == []
    assert left_out == {"pkg": IRREGULAR if link else REPLACED, "pkg/a.py": REPLACED}


def test_changes_are_bounded(tmp_path: Path) -> None:
    """Of too many changes those of files that exist come first, and deletions last; files that are too large are left out."""
    names = [f"{number}.py" for number in range(MAX_CHANGED - 2)]
    tree = Worktree(write(tmp_path, a_gone="1", z_changed="1"))
    (tmp_path / "a_gone.py").unlink()
    (tmp_path / "large.py").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    write(tmp_path, z_changed="2", **{name.removesuffix(".py"): "3" for name in names})
    found, left_out = tree.changes(["a_gone.py", *names, "large.py", "z_changed.py"])
    assert [one.path for one in found] == sorted([*names, "a_gone.py", "z_changed.py"])
    assert left_out == {"large.py": TOO_LARGE}
    write(tmp_path, x_new="3")
    found, left_out = tree.changes(["a_gone.py", *names, "x_new.py", "z_changed.py"])
    assert [one.path for one in found] == sorted([*names, "x_new.py", "z_changed.py"])
    assert left_out == {"a_gone.py": TOO_MANY}
    write(tmp_path, y_new="3")
    found, left_out = tree.changes([*names, "x_new.py", "y_new.py", "z_changed.py"])
    assert [one.path for one in found] == sorted([*names, "x_new.py", "z_changed.py"])
    assert left_out == {"y_new.py": TOO_MANY}


def test_files_are_found_for_a_task(tmp_path: Path) -> None:
    """Of a small folder all files are used, else those that the task names, else the nearest; tests are apart."""
    tree = Worktree(write(tmp_path, calc="1", test_calc="2"))
    assert context_files(tree, "Fix it", ()) == Chosen(("calc.py",), tests=("test_calc.py",))
    write(tmp_path, **{f"other{number}": "x" for number in range(9)})
    tree = Worktree(tmp_path)
    assert context_files(tree, "Fix calc.py", ()) == Chosen(("calc.py",))
    assert context_files(tree, "Fix calc", ("python3", "test_calc.py")) == Chosen(
        ("calc.py",), tests=("test_calc.py",)
    )
    assert len(context_files(tree, "?", ()).files) == 3


def test_other_files_than_source_code_are_only_read(tmp_path: Path) -> None:
    """Beside source code a file of another kind is changed only if the task names it, and where there is no source code all are."""
    (tmp_path / "README.md").write_text("# It", encoding="utf-8")
    assert context_files(Worktree(tmp_path), "Fix it", ()) == Chosen(("README.md",))
    tree = Worktree(write(tmp_path, calc="1"))
    assert context_files(tree, "Fix it", ()) == Chosen(("calc.py",), ("README.md",))
    assert context_files(tree, "Fix it, and say so in README.md", ()) == Chosen(("README.md", "calc.py"))


def test_tests_may_be_changed_where_there_is_nothing_else(tmp_path: Path) -> None:
    """A folder of tests alone is changed."""
    assert context_files(Worktree(write(tmp_path, test_calc="2")), "Fix it", ()) == Chosen(("test_calc.py",))


def test_copies_of_a_killed_daemon_are_removed(tmp_path: Path) -> None:
    """The next start removes what is left, and nothing else."""
    for name in ("work-1/x", "proposals/x"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["proposals"]
