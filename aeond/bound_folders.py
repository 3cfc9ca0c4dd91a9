"""Folders that are bound by identity: a path that later leads to another folder is noticed before it is used."""

import errno
import fcntl
import os
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from aeond.errors import ToolError
from aeond.openat2 import RESOLVE_NO_SYMLINKS, openat2
from aeond.thread_rights import take_rights
from aeond.user_rights import UserRights

_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FS_IOC_GETVERSION: Final = 0x80087601


def open_folder(path: str) -> int:
    """An O_PATH descriptor of the folder with this absolute path, reached without following any symbolic link.

    OSError: ENOTDIR for a link, ENOENT and similar as `open` does.
    """
    parts = [part for part in path.split("/") if part]
    if not path.startswith("/") or ".." in parts:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    try:
        return openat2(path, _FOLDER, RESOLVE_NO_SYMLINKS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from error
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
    return _open_by_steps(parts)


def _open_by_steps(parts: Sequence[str]) -> int:
    """The same without openat2."""
    here = os.open("/", _FOLDER)
    for part in parts:
        try:
            below = os.open(part, _FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here


def identity_of(folder: int) -> str:
    """The identity of an open folder: device, inode and, where the file system has it, the inode's generation, which
    differs if the number is used again for another folder.
    """
    facts = os.fstat(folder)
    generation = 0
    with suppress(OSError):  # this user may not read the folder, or its file system has no generations
        readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            answer = fcntl.ioctl(readable, _FS_IOC_GETVERSION, bytes(8))
            generation = struct.unpack("I", answer[:4])[0]
        finally:
            os.close(readable)
    return f"{os.major(facts.st_dev)}:{os.minor(facts.st_dev)}:{facts.st_ino}:{generation}"


def is_folder(path: Path, facts: os.stat_result) -> bool:
    """Whether the path leads to the folder with these facts."""
    with suppress(OSError):
        return os.path.samestat(path.stat(), facts)
    return False


def open_bound(path: str, identity: str, rights: UserRights | None) -> int:
    """As `open_folder`, for the folder with this identity only ("" for any). With rights, the calling thread takes
    them first, and keeps them: see `take_rights`.

    ToolError (reason WORKSPACE_CHANGED) if the path leads to another folder, to a link, or nowhere.
    """
    if rights is not None:
        take_rights(rights)
    try:
        opened = open_folder(path)
    except OSError as error:
        if identity and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise _changed(path) from error
        raise
    if identity and identity_of(opened) != identity:
        os.close(opened)
        raise _changed(path)
    return opened


def _changed(path: str) -> ToolError:
    return ToolError(
        f"{path!r:.200} is not the folder any more that this run is bound to: put that folder back, or start a new run",
        reason="WORKSPACE_CHANGED",
    )
