"""Nothing outside is read, listed or written, whatever the path; honest paths work."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from aeond.capabilities.tools.files.contained_files import MAX_NEW_FOLDERS, ContainedFiles
from aeond.capabilities.tools.files.safe_open import Resolver, resolve_by_steps, resolve_in_kernel
from aeond.errors import ToolError
from tests.support.escapes import ESCAPES, HONEST, INNER, LINKS, SECRET, UNUSABLE, Grounds, make_grounds

RESOLVERS = {"in kernel": resolve_in_kernel, "by steps": resolve_by_steps}
REFUSED = {"PATH_OUTSIDE", "PATH_INVALID", "FILE_NOT_FOUND", "NOT_A_FILE", "NOT_A_FOLDER"}


@pytest.fixture
def grounds(tmp_path: Path) -> Grounds:
    return make_grounds(tmp_path)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Grounds:
    """Grounds for tests that only look."""
    return make_grounds(tmp_path_factory.mktemp("standing"))


@pytest.fixture(params=RESOLVERS)
def resolve(request: pytest.FixtureRequest) -> Resolver:
    return RESOLVERS[request.param]


@pytest.fixture
def files(resolve: Resolver) -> ContainedFiles:
    return ContainedFiles(resolve)


def read(files: ContainedFiles, path: str, grounds: Grounds) -> str:
    with files.open_file(path, str(grounds.workspace)) as opened:
        return os.pread(opened, 1_000, 0).decode()


def listed(files: ContainedFiles, path: str, grounds: Grounds) -> set[str]:
    with files.open_folder(path, str(grounds.workspace)) as opened:
        return set(os.listdir(opened))


def write(files: ContainedFiles, path: str, grounds: Grounds, text: str = "new") -> None:
    files.write_file(path, str(grounds.workspace), text.encode(), "run/step/call")


def leaves_by_name(path: str) -> bool:
    """Whether the path leads out by its dots or its root alone, so that the refusal must say so."""
    return path.startswith(("..", "./..", "/")) and "{ws}" not in path


@pytest.mark.parametrize("template", ESCAPES)
def test_escapes_read_nothing(files: ContainedFiles, standing: Grounds, template: str) -> None:
    """No path that leads out opens a file."""
    with pytest.raises(ToolError) as refusal:
        read(files, standing.fill(template), standing)
    assert refusal.value.reason in REFUSED
    assert SECRET not in refusal.value.message
    if leaves_by_name(template):
        assert refusal.value.reason == "PATH_OUTSIDE"


@pytest.mark.parametrize("template", ESCAPES)
def test_escapes_list_nothing(files: ContainedFiles, standing: Grounds, template: str) -> None:
    """No path that leads out opens a folder."""
    with pytest.raises(ToolError) as refusal:
        listed(files, standing.fill(template), standing)
    assert refusal.value.reason in REFUSED


@pytest.mark.parametrize("template", [*ESCAPES, *(f"{path}/planted.txt" for path in ESCAPES)])
def test_escapes_write_nothing(files: ContainedFiles, grounds: Grounds, template: str) -> None:
    """No path that leads out writes a file or makes a folder outside."""
    with pytest.raises(ToolError) as refusal:
        write(files, grounds.fill(template), grounds)
    assert refusal.value.reason in REFUSED
    assert grounds.unharmed()


@pytest.mark.parametrize("path", UNUSABLE)
def test_unusable_paths_are_refused(files: ContainedFiles, grounds: Grounds, path: str) -> None:
    """Empty, huge and broken paths, FIFOs and sockets are refused with a reason, and none of them blocks."""
    for use in (read, listed, write):
        with pytest.raises(ToolError) as refusal:
            use(files, path, grounds)
        assert refusal.value.reason in REFUSED
        refusal.value.message.encode()
    assert grounds.unharmed()


@pytest.mark.parametrize("template", HONEST)
def test_honest_paths_read(standing: Grounds, template: str) -> None:
    """Paths and links that stay inside are followed, by strange names too."""
    assert read(ContainedFiles(resolve_in_kernel), standing.fill(template), standing) == INNER


@pytest.mark.parametrize("template", HONEST)
def test_honest_paths_without_links_read_by_steps(standing: Grounds, template: str) -> None:
    """Where the kernel cannot help, paths without links and dots still work and the others are refused."""
    files = ContainedFiles(resolve_by_steps)
    parts = [part for part in template.removeprefix("{ws}/").split("/") if part not in ("", ".")]
    names = {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
    if ".." in parts or names & LINKS.keys():
        with pytest.raises(ToolError):
            read(files, standing.fill(template), standing)
    else:
        assert read(files, standing.fill(template), standing) == INNER


def test_honest_folders_are_listed(files: ContainedFiles, standing: Grounds) -> None:
    """The workspace itself and folders below it are listed."""
    expected = {"b.txt", "deep", "..b", "link_up", "parents", "out_far"}
    for path in ("sub", "sub/", "./sub", "sub/.", f"{standing.workspace}/sub"):
        assert listed(files, path, standing) == expected
    for path in (".", "./", str(standing.workspace), f"{standing.workspace}/"):
        assert "a.txt" in listed(files, path, standing)


def test_file_is_no_folder_and_folder_no_file(files: ContainedFiles, grounds: Grounds) -> None:
    """Using a file as a folder or a folder as a file fails with a reason of its own."""
    with pytest.raises(ToolError) as refusal:
        listed(files, "a.txt", grounds)
    assert refusal.value.reason == "NOT_A_FOLDER"
    with pytest.raises(ToolError) as refusal:
        read(files, "a.txt/b", grounds)
    assert refusal.value.reason == "NOT_A_FOLDER"
    for use in (read, write):
        with pytest.raises(ToolError) as refusal:
            use(files, "sub", grounds)
        assert refusal.value.reason == "NOT_A_FILE"


def test_missing_file_is_reported(files: ContainedFiles, standing: Grounds) -> None:
    """A missing file has a reason of its own and the advice to list the folder."""
    with pytest.raises(ToolError, match="list the folder") as refusal:
        read(files, "nothing.txt", standing)
    assert refusal.value.reason == "FILE_NOT_FOUND"


def test_workspace_that_is_not_there_is_reported(
    files: ContainedFiles, standing: Grounds, tmp_path: Path
) -> None:
    """Without a workspace, or with one that is gone, nothing opens and the reason says so."""
    for workspace in (tmp_path / "gone", standing.workspace / "a.txt", ""):
        with pytest.raises(ToolError) as refusal, files.open_file("a.txt", str(workspace)):
            pass
        assert refusal.value.reason == "WORKSPACE_MISSING"


def test_readable_roots_are_read_and_not_written(resolve: Resolver, grounds: Grounds) -> None:
    """A readable root is reached by absolute paths, and nothing can be written there."""
    files = ContainedFiles(resolve, readable_roots=[str(grounds.outside)])
    assert read(files, f"{grounds.outside}/secret.txt", grounds) == SECRET
    assert listed(files, str(grounds.outside), grounds) == {"secret.txt", "folder"}
    for path in (f"{grounds.outside}/new.txt", f"{grounds.outside}/secret.txt"):
        with pytest.raises(ToolError) as refusal:
            write(files, path, grounds)
        assert refusal.value.reason == "PATH_OUTSIDE"
    with pytest.raises(ToolError):
        read(files, "out_file", grounds)
    with pytest.raises(ToolError):
        read(files, f"{grounds.outside}/../workspace-next/secret.txt", grounds)
    assert grounds.unharmed()


def test_writable_roots_are_written(resolve: Resolver, grounds: Grounds) -> None:
    """A writable root is reached by absolute paths, for reading too."""
    files = ContainedFiles(resolve, writable_roots=[str(grounds.outside)])
    write(files, f"{grounds.outside}/made/new.txt", grounds)
    assert read(files, f"{grounds.outside}/made/new.txt", grounds) == "new"


def test_innermost_root_holds(resolve: Resolver, grounds: Grounds) -> None:
    """Of roots inside each other the inner one decides what can be written."""
    files = ContainedFiles(resolve, readable_roots=["/"], writable_roots=[str(grounds.outside / "folder")])
    write(files, f"{grounds.outside}/folder/new.txt", grounds)
    with pytest.raises(ToolError):
        write(files, f"{grounds.outside}/new.txt", grounds)


def test_write_replaces_the_whole_file(files: ContainedFiles, grounds: Grounds) -> None:
    """Writing replaces all that was there, keeps the permissions and leaves no other file behind."""
    target = grounds.workspace / "sub" / "b.txt"
    target.chmod(0o640)
    before = set(os.listdir(grounds.workspace / "sub"))
    write(files, "sub/b.txt", grounds, "short")
    assert target.read_text() == "short"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert set(os.listdir(grounds.workspace / "sub")) == before


def test_a_write_takes_effect_after_what_it_waits_for(files: ContainedFiles, grounds: Grounds) -> None:
    """What is done meanwhile finds the old file with the new content beside it; if it fails, the old file stays alone."""
    folder = grounds.workspace / "sub"
    before = set(os.listdir(folder))
    seen: list[tuple[str, list[str]]] = []

    def look() -> None:
        drafts = [(folder / name).read_text() for name in set(os.listdir(folder)) - before]
        seen.append(((folder / "b.txt").read_text(), drafts))

    def fail() -> None:
        raise ValueError

    old = (folder / "b.txt").read_text()
    with pytest.raises(ValueError):
        files.write_file("sub/b.txt", str(grounds.workspace), b"new", "mark", meanwhile=fail)
    assert set(os.listdir(folder)) == before
    files.write_file("sub/b.txt", str(grounds.workspace), b"new", "mark", meanwhile=look)
    assert seen == [(old, ["new"])]
    assert (folder / "b.txt").read_text() == "new"


def test_write_makes_missing_folders(files: ContainedFiles, grounds: Grounds) -> None:
    """Folders on the way to a new file are made, to a bound."""
    write(files, "x/y/z.txt", grounds)
    assert (grounds.workspace / "x" / "y" / "z.txt").read_text() == "new"
    write(files, "d/" * MAX_NEW_FOLDERS + "z.txt", grounds)
    with pytest.raises(ToolError):
        write(files, "e/" * (MAX_NEW_FOLDERS + 1) + "z.txt", grounds)


def test_write_through_an_honest_folder_link_works(grounds: Grounds) -> None:
    """A link to a folder inside is followed when writing below it."""
    write(ContainedFiles(resolve_in_kernel), "link_sub/new.txt", grounds)
    assert (grounds.workspace / "sub" / "new.txt").read_text() == "new"


def test_links_are_not_written_through(files: ContainedFiles, grounds: Grounds) -> None:
    """A link in place of the file is neither replaced nor followed, wherever it leads."""
    for name in ("link_in", "out_file", "dangling", "dangling_out", "loop"):
        with pytest.raises(ToolError) as refusal:
            write(files, name, grounds)
        assert refusal.value.reason == "NOT_A_FILE"
        assert (grounds.workspace / name).is_symlink()
    assert (grounds.workspace / "a.txt").read_text() == INNER
    assert grounds.unharmed()


def test_hard_link_is_parted_from_the_outside(files: ContainedFiles, grounds: Grounds) -> None:
    """Writing to a file that has a second name outside changes only the name inside."""
    write(files, "hard", grounds)
    assert (grounds.workspace / "hard").read_text() == "new"
    assert grounds.unharmed()


def test_write_protected_file_is_kept(files: ContainedFiles, grounds: Grounds) -> None:
    """A write-protected file is not replaced."""
    (grounds.workspace / "a.txt").chmod(0o444)
    with pytest.raises(ToolError) as refusal:
        write(files, "a.txt", grounds)
    assert refusal.value.reason == "FILE_FORBIDDEN"
    assert (grounds.workspace / "a.txt").read_text() == INNER


def test_name_that_is_no_file_name_is_refused(files: ContainedFiles, grounds: Grounds) -> None:
    """A path that ends in a slash or in dots names no file to write."""
    for path in ("sub/", "new/", ".", "sub/.", "sub/.."):
        with pytest.raises(ToolError) as refusal:
            write(files, path, grounds)
        assert refusal.value.reason == "PATH_INVALID"


CRASHING_WRITER = """
import os, sys
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.files.contained_files import ContainedFiles

os.rename = lambda *names, **folders: os._exit(9)
ContainedFiles(resolve_in_kernel).write_file("a.txt", sys.argv[1], b"second", "run/step/call")
"""


def test_a_draft_left_by_a_crash_is_replaced(files: ContainedFiles, grounds: Grounds) -> None:
    """A crash before the file is in place leaves the old one, and repeating the call leaves nothing else."""
    before = set(os.listdir(grounds.workspace))
    crashed = subprocess.run(
        [sys.executable, "-c", CRASHING_WRITER, str(grounds.workspace)], timeout=60, check=False
    )
    assert crashed.returncode == 9
    assert (grounds.workspace / "a.txt").read_text() == INNER
    assert len(set(os.listdir(grounds.workspace)) - before) == 1
    write(files, "a.txt", grounds, "second")
    assert (grounds.workspace / "a.txt").read_text() == "second"
    assert set(os.listdir(grounds.workspace)) == before


def test_stopped_writer_changes_nothing(files: ContainedFiles, grounds: Grounds) -> None:
    """A writer whose caller has stopped waiting leaves the old content, and no draft."""
    before = set(os.listdir(grounds.workspace))
    with pytest.raises(ToolError) as failure:
        files.write_file("a.txt", str(grounds.workspace), b"late", "run/step/call", stopped=lambda: True)
    assert failure.value.reason == "STOPPED"
    assert (grounds.workspace / "a.txt").read_text() == INNER
    assert set(os.listdir(grounds.workspace)) == before


def test_relative_path_without_workspace_is_refused(resolve: Resolver, grounds: Grounds) -> None:
    """Without a workspace a relative path never falls into one of the configured folders."""
    files = ContainedFiles(resolve, writable_roots=[str(grounds.outside)])
    for use in (files.open_file, files.open_folder):
        with pytest.raises(ToolError) as refusal, use("secret.txt", ""):
            pass
        assert refusal.value.reason == "WORKSPACE_MISSING"
    with pytest.raises(ToolError):
        files.write_file("secret.txt", "", b"new", "run/step/call")
    assert grounds.unharmed()


@pytest.mark.parametrize(
    ("code", "reason", "retryable"),
    [
        (errno.ENOSPC, "DISK_FULL", True),
        (errno.EDQUOT, "DISK_FULL", True),
        (errno.EROFS, "FILE_FORBIDDEN", False),
        (errno.EACCES, "FILE_FORBIDDEN", False),
        (errno.EIO, "FILE_FAILED", False),
    ],
)
def test_failed_write_leaves_the_old_file(
    files: ContainedFiles,
    grounds: Grounds,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    reason: str,
    retryable: bool,
) -> None:
    """When the disk fails, the old content stays, the draft goes and the reason names the failure."""
    before = set(os.listdir(grounds.workspace))

    def fail(_descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ToolError) as failure:
        write(files, "a.txt", grounds)
    assert (failure.value.reason, failure.value.retryable) == (reason, retryable)
    assert (grounds.workspace / "a.txt").read_text() == INNER
    assert set(os.listdir(grounds.workspace)) == before


def test_no_descriptor_is_left_open(files: ContainedFiles, grounds: Grounds) -> None:
    """Neither success nor refusal leaves a descriptor open."""
    before = len(os.listdir("/proc/self/fd"))
    for template in (*HONEST, *ESCAPES, *UNUSABLE):
        for use in (read, listed, write):
            try:
                use(files, grounds.fill(template), grounds)
            except ToolError:
                continue
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_repeated_write_waits_for_the_one_that_was_let_go_of(
    files: ContainedFiles, grounds: Grounds
) -> None:
    """A writer that was stopped does not take away what a repetition of its call writes at the same time."""
    writes, begun = threading.Event(), threading.Event()

    def stopped() -> bool:
        writes.set()
        return begun.wait(10)

    def let_go_of() -> None:
        with pytest.raises(ToolError, match="stopped"):
            files.write_file("note.txt", str(grounds.workspace), b"old", "mark", stopped)

    def first_is_over() -> bool:
        first.join(10)
        return first.is_alive()

    first = threading.Thread(target=let_go_of)
    first.start()
    assert writes.wait(10)
    begun.set()
    files.write_file("note.txt", str(grounds.workspace), b"new", "mark", first_is_over)
    assert (grounds.workspace / "note.txt").read_bytes() == b"new"
