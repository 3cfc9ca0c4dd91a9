"""Threads that open files with the rights of another user."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aeond.thread_rights import acting_as, can_act_for_others, take_rights
from aeond.user_rights import UserRights
from tests.support.outsiders import open_folder

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act for other users")

USER, GROUP, CLUB = 12_341, 12_342, 12_343
ANN = UserRights(USER, GROUP, (CLUB,))


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as path:
        yield path


def file_of(folder: Path, name: str, mode: int, uid: int = 0, gid: int = 0) -> Path:
    path = folder / name
    path.write_text(name, encoding="utf-8")
    os.chown(path, uid, gid)
    path.chmod(mode)
    return path


@needs_root
@pytest.mark.parametrize(
    ("mode", "uid", "gid", "readable"),
    [
        (0o600, USER, 0, True),
        (0o600, 0, GROUP, False),
        (0o640, 0, GROUP, True),
        (0o640, 0, CLUB, True),
        (0o640, 0, 0, False),
        (0o644, 0, 0, True),
        (0o604, 0, CLUB, False),
        (0o044, USER, 0, False),
    ],
)
def test_the_kernel_decides_as_for_the_user(
    folder: Path, mode: int, uid: int, gid: int, readable: bool
) -> None:
    """A file is read exactly where its mode lets this user and these groups read it."""
    file = file_of(folder, "note", mode, uid, gid)
    if readable:
        assert acting_as(ANN, file.read_text) == "note"
    else:
        with pytest.raises(PermissionError):
            acting_as(ANN, file.read_text)


@needs_root
def test_a_new_file_belongs_to_the_user(folder: Path) -> None:
    """A new file has the user's uid and gid, and the rest of the process keeps its own rights."""
    folder.chmod(0o777)
    acting_as(ANN, (folder / "made").touch)
    facts = (folder / "made").stat()
    assert (facts.st_uid, facts.st_gid) == (USER, GROUP)
    (folder / "other").touch()
    assert (folder / "other").stat().st_uid == 0


@needs_root
def test_rights_are_taken_for_good(folder: Path) -> None:
    """A thread with the rights of a user takes the same again and no others, and has no capability left."""
    file = file_of(folder, "private", 0o600)

    def work() -> str:
        take_rights(ANN)
        with pytest.raises(PermissionError):
            take_rights(UserRights(USER + 10, GROUP))
        with pytest.raises(PermissionError):
            os.chown(file, USER, GROUP)
        return Path(f"/proc/self/task/{threading.get_native_id()}/status").read_text(encoding="utf-8")

    status = dict(line.split(":\t", 1) for line in acting_as(ANN, work).splitlines())
    assert status["Uid"].split() == ["0", "0", "0", str(USER)]
    assert {status[name] for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {f"{0:016x}"}


def test_a_thread_with_other_work_takes_no_rights() -> None:
    """A thread that is not meant for one piece of work, such as that of the event loop, is refused."""
    with pytest.raises(RuntimeError), ThreadPoolExecutor(1) as thread:
        thread.submit(take_rights, ANN).result()
    with pytest.raises(RuntimeError):
        take_rights(ANN)


def test_without_rights_nothing_changes() -> None:
    """Work without a user's rights stays in its thread."""
    assert acting_as(None, threading.get_ident) == threading.get_ident()


@needs_root
def test_only_root_acts_for_others() -> None:
    """Root may take the rights of others; a process without capabilities may not, and learns it beforehand."""
    assert can_act_for_others()
    assert not acting_as(ANN, can_act_for_others.__wrapped__)
