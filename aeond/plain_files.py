"""Reads small user-supplied files in one go."""

import errno
import os
import stat
from pathlib import Path
from typing import Literal


def read_plain(path: Path, max_bytes: int) -> tuple[os.stat_result, bytes]:
    """The file's metadata and content, read through one descriptor, up to one byte beyond `max_bytes`.

    OSError if the file cannot be read or is not a regular file. Never blocks on another process.
    """
    with open(path, "rb", opener=_at_once) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return facts, file.read(max_bytes + 1)


def changeable(path: Path, facts: os.stat_result) -> str:
    """Why a user other than this one and root could modify or replace the file with this metadata, and how to
    prevent it; "" if none can. OSError if its folder cannot be examined.
    """
    folder = path.resolve().parent.stat().st_mode
    if facts.st_mode & stat.S_IWOTH:
        return "it is writable by all users: run chmod o-w on it"
    if facts.st_uid not in (0, os.geteuid()):
        return "it belongs to another user: run chown on it"
    if folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
        return "its folder is writable by all users: run chmod o-w on the folder"
    return ""


class UnsafeFileError(Exception):
    """A file that is not read: `kind` says which rule it breaks, the message why and what to do."""

    def __init__(self, kind: Literal["unreadable", "changeable", "too large"], why: str) -> None:
        super().__init__(why)
        self.kind = kind


def read_trusted(path: Path, max_bytes: int) -> bytes:
    """The content of a file whose author may instruct the program: only this user and root can change it.

    Read through the descriptor that was checked; UnsafeFileError otherwise.
    """
    try:
        facts, content = read_plain(path, max_bytes)
        unsafe = changeable(path, facts)
    except OSError as error:
        raise UnsafeFileError("unreadable", f"it cannot be read: {error.strerror}") from error
    if unsafe:
        raise UnsafeFileError("changeable", unsafe)
    if len(content) > max_bytes:
        raise UnsafeFileError("too large", f"it is larger than {max_bytes // 1024} KiB")
    return content


def _at_once(path: str, flags: int) -> int:
    """Opens without blocking; opening a FIFO would otherwise block until another process writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)
