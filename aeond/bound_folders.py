"""Folders that are bound by identity: a path that later leads to another folder is noticed before it is used."""

import errno
import fcntl
import os
import struct
from contextlib import suppress
from typing import Final

_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FS_IOC_GETVERSION: Final = 0x80087601


def open_folder(path: str) -> int:
    """An O_PATH descriptor of the folder with this absolute path, reached without following any symbolic link.

    OSError: ELOOP or ENOTDIR for a link, ENOENT and similar as `open` does.
    """
    if not path.startswith("/"):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    here = os.open("/", _FOLDER)
    for part in filter(None, path.split("/")):
        try:
            if part == "..":
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
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


class FolderChangedError(OSError):
    """The path leads to another folder than the bound one."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ESTALE, os.strerror(errno.ESTALE), path)


def open_bound(path: str, identity: str) -> int:
    """As `open_folder`, for the folder with this identity only ("" for any): FolderChangedError for another folder, a
    link, or none.
    """
    try:
        opened = open_folder(path)
    except OSError as error:
        if identity and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise FolderChangedError(path) from error
        raise
    if identity and identity_of(opened) != identity:
        os.close(opened)
        raise FolderChangedError(path)
    return opened
