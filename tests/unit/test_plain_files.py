"""Files that are read as a whole."""

import grp
import os
import pwd
import socket
import stat
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

import aeond
from aeond.plain_files import (
    UnsafeFileError,
    is_own_code,
    own_code,
    read_plain,
    read_trusted,
    writable_by_others,
)


def test_a_file_is_read_with_what_is_known_of_it(tmp_path: Path) -> None:
    """Its bytes and its permissions come together, and a byte more than allowed tells that it is too long."""
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    path.chmod(0o640)
    facts, content = read_plain(path, 5)
    assert (stat.S_IMODE(facts.st_mode), content) == (0o640, b"12345")
    assert read_plain(path, 3)[1] == b"1234"


@pytest.mark.parametrize("kind", ["nothing", "folder", "fifo", "socket", "device"])
async def test_only_a_regular_file_is_opened(tmp_path: Path, kind: str) -> None:
    """A path that is missing or not a regular file raises OSError with a message, without blocking."""
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    elif kind == "device":
        path.symlink_to("/dev/zero")
    with anyio.fail_after(60), pytest.raises(OSError, match=r"\w") as refused:
        await anyio.to_thread.run_sync(read_plain, path, 10, abandon_on_cancel=True)
    assert refused.value.strerror


GROUP = 54_321


@pytest.fixture
def shared_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that its group may write to, in a folder of its own; the file's facts say that it is of GROUP."""
    path = tmp_path / "folder" / "tool.py"
    path.parent.mkdir(mode=0o755)
    path.write_text("TOOLS = []")
    path.chmod(0o664)
    for place in (path, path.parent):
        os.chown(place, -1, _a_group())
    monkeypatch.setattr(pwd, "getpwuid", lambda _: pwd.struct_passwd(("ann", "x", 1, 1, "", "/", "")))
    return path


def _a_group() -> int:
    """A group that the tests may give a file to, and that is not root's."""
    return GROUP if os.geteuid() == 0 else next(one for one in (os.getgid(), *os.getgroups()) if one)


@pytest.mark.parametrize(
    ("name", "members", "said"),
    [
        ("devs", [], "by the group devs: run chmod g-w"),
        ("ann", ["ann", "ben"], "by the group ann: run chmod g-w"),
        ("ann", ["ann", "root"], ""),
        ("ann", [], ""),
    ],
)
@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
def test_members_of_a_group_are_other_users(
    shared_file: Path, monkeypatch: pytest.MonkeyPatch, name: str, members: list[str], said: str, folder: bool
) -> None:
    """A file or folder that a group may write to is not trusted, unless the group is the user's own with no other member."""
    monkeypatch.setattr(grp, "getgrgid", lambda number: grp.struct_group((name, "x", number, members)))
    if folder:
        shared_file.chmod(0o644)
        shared_file.parent.chmod(0o775)
    if said:
        with pytest.raises(UnsafeFileError, match=said) as refused:
            read_trusted(shared_file, 100)
        assert refused.value.kind == "changeable"
    else:
        assert read_trusted(shared_file, 100) == b"TOOLS = []"


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")
def test_a_group_without_a_name_is_that_of_the_user_of_its_number(tmp_path: Path) -> None:
    """In a container that has no names, a configuration of user 54321 and its group 54321 is that user's own; the same
    file with another group is writable by others.
    """
    path = tmp_path / "aeond.toml"
    path.touch()
    path.chmod(0o664)
    for group, safe in ((GROUP, True), (GROUP + 1, False)):
        os.chown(path, GROUP, group)
        assert (writable_by_others(path, path.stat()) == "") is safe


def test_the_code_of_this_process() -> None:
    """The packages of this Python and those of aeond are the process's own code; what is beside them is not."""
    package = Path(aeond.__file__).resolve().parent
    assert is_own_code(str(package))
    assert is_own_code(str(package / "main.py"))
    if not sys.prefix.startswith("/usr"):
        assert is_own_code(str(Path(sys.prefix, "lib").resolve() / "x.py"))
    assert not is_own_code(f"{package}-notes/x.py")
    assert not any(place.startswith("/usr/") for place in own_code())
