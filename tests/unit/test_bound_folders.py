"""Folders bound by identity."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aeond import bound_folders
from aeond.bound_folders import identity_of, open_bound, open_folder
from aeond.errors import ToolError


def identity(folder: Path) -> str:
    opened = open_folder(str(folder))
    try:
        return identity_of(opened)
    finally:
        os.close(opened)


def _failing(code: int) -> Callable[..., int]:
    def fail(*_parts: object) -> int:
        raise OSError(code, os.strerror(code))

    return fail


def test_a_bound_folder_is_opened(tmp_path: Path) -> None:
    """A path that leads to the bound folder still opens that folder."""
    opened = open_bound(str(tmp_path), identity(tmp_path), None)
    assert os.path.samestat(os.fstat(opened), tmp_path.stat())
    os.close(opened)


@pytest.mark.parametrize("missing", [0, errno.ENOSYS, errno.EPERM])
def test_no_link_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: int) -> None:
    """A link is refused wherever it is in the path, also on a kernel without openat2 or where a filter forbids it."""
    if missing:
        monkeypatch.setattr(bound_folders, "openat2", _failing(missing))
    (tmp_path / "real" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    for path in (tmp_path / "link", tmp_path / "link" / "below"):
        with pytest.raises(NotADirectoryError):
            open_folder(str(path))
    opened = open_folder(str(tmp_path / "real" / "below"))
    assert os.path.samestat(os.fstat(opened), (tmp_path / "real" / "below").stat())
    os.close(opened)


@pytest.mark.parametrize("path", ["relative", "/usr/../etc"])
def test_a_path_must_be_plain(path: str) -> None:
    """A relative path, and one with a step up, are refused."""
    with pytest.raises(OSError, match="Invalid argument"):
        open_folder(path)


def test_another_folder_is_noticed(tmp_path: Path) -> None:
    """A folder, a link or nothing in place of the bound folder is an error of its own."""
    bound = tmp_path / "bound"
    bound.mkdir()
    known = identity(bound)
    bound.rename(tmp_path / "moved")
    with pytest.raises(ToolError, match="put that folder back"):
        open_bound(str(bound), known, None)
    bound.symlink_to("moved")
    with pytest.raises(ToolError, match="put that folder back"):
        open_bound(str(bound), known, None)
    bound.unlink()
    bound.mkdir()
    with pytest.raises(ToolError, match="put that folder back"):
        open_bound(str(bound), known, None)
    os.close(open_bound(str(tmp_path / "moved"), known, None))
    os.close(open_bound(str(bound), "", None))
