"""The system call openat2."""

import errno
import os
from pathlib import Path

import pytest

from aeond.openat2 import RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, openat2

_FLAGS = os.O_PATH | os.O_CLOEXEC


def test_a_path_is_opened(tmp_path: Path) -> None:
    """The descriptor is of what the path leads to, from a folder or from the root, and is not inherited."""
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    folder = openat2(str(tmp_path), _FLAGS | os.O_DIRECTORY, RESOLVE_NO_SYMLINKS)
    found = openat2("a.txt", _FLAGS, RESOLVE_BENEATH, folder)
    assert os.path.samestat(os.fstat(found), (tmp_path / "a.txt").stat())
    assert not os.get_inheritable(found)
    os.close(found)
    os.close(folder)


@pytest.mark.parametrize(
    ("path", "resolve", "code"),
    [
        ("link", RESOLVE_NO_SYMLINKS, errno.ELOOP),
        ("link/below", RESOLVE_NO_SYMLINKS, errno.ELOOP),
        ("..", RESOLVE_BENEATH, errno.EXDEV),
        ("/proc/self/root", RESOLVE_NO_MAGICLINKS, errno.ELOOP),
        ("nothing", RESOLVE_BENEATH, errno.ENOENT),
    ],
)
def test_a_restriction_holds_in_the_whole_path(tmp_path: Path, path: str, resolve: int, code: int) -> None:
    """A path that breaks a restriction, or leads nowhere, is an OSError with its errno."""
    (tmp_path / "real" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    folder = openat2(str(tmp_path), _FLAGS | os.O_DIRECTORY, RESOLVE_NO_SYMLINKS)
    with pytest.raises(OSError) as failure:
        openat2(path, _FLAGS, resolve, folder)
    os.close(folder)
    assert failure.value.errno == code
