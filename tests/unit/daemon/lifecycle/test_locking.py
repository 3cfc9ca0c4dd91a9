"""One daemon per state folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aeond.daemon.lifecycle.locking import single_instance
from aeond.errors import AlreadyExistsError, RefusedError
from tests.support.outsiders import as_outsider, open_folder


def test_a_second_instance_is_refused_by_the_first_one_s_name(tmp_path: Path) -> None:
    """While one process holds the lock, another is refused with the holder's process id."""
    first, second = single_instance(tmp_path / "lock"), single_instance(tmp_path / "lock")
    with first, pytest.raises(AlreadyExistsError) as raised, second:
        raise AssertionError("two at once")
    assert raised.value.reason == "ANOTHER_INSTANCE"
    assert f"process {os.getpid()}" in raised.value.message


def test_the_lock_is_free_after_its_holder_ends(tmp_path: Path) -> None:
    """When an instance has ended the next one starts."""
    for _ in range(2):
        with single_instance(tmp_path / "lock"):
            assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    """A killed daemon leaves no lock behind."""
    held = (
        "import sys, signal, os\n"
        "from pathlib import Path\n"
        "from aeond.daemon.lifecycle.locking import single_instance\n"
        "with single_instance(Path(sys.argv[1])):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", held, str(tmp_path / "lock")], check=False, timeout=30)
    assert killed.returncode == -9
    with single_instance(tmp_path / "lock"):
        pass


def test_children_do_not_hold_the_lock(tmp_path: Path) -> None:
    """A process that the daemon starts does not inherit its lock."""
    with single_instance(tmp_path / "lock"):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with single_instance(tmp_path / "lock"):
            pass
    finally:
        child.communicate(b"\n", timeout=30)


def test_a_folder_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    """A state folder that is not there, or another user's, gives an error that names it and what to do."""
    with pytest.raises(RefusedError, match="none/lock cannot be opened") as raised:
        single_instance(tmp_path / "none" / "lock").__enter__()
    assert raised.value.reason == "FOLDER_REFUSED"
    with (
        open_folder() as folder,
        as_outsider(folder),
        pytest.raises(RefusedError, match=str(folder)) as raised,
    ):
        single_instance(folder / "lock").__enter__()
    assert raised.value.reason == "FOLDER_REFUSED"
