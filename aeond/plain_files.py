"""Files that the program trusts: reads small user-supplied ones in one go, and knows those of its own code."""

import errno
import grp
import os
import pwd
import stat
import sys
from collections.abc import Sequence
from functools import cache
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
    if facts.st_uid not in (0, os.geteuid()):
        return "it belongs to another user: run chown on it"
    return writable_by_others(path, facts)


def writable_by_others(path: Path, facts: os.stat_result) -> str:
    """As `changeable`, for users who do not own the file."""
    folder = path.resolve().parent.stat()
    if others := _writers(facts):
        return f"it is writable by {others[0]}: run chmod {others[1]}-w on it"
    others = _writers(folder)
    if others and not folder.st_mode & stat.S_ISVTX:  # with which only its owner replaces a file
        return f"its folder is writable by {others[0]}: run chmod {others[1]}-w on the folder"
    return ""


def _writers(facts: os.stat_result) -> tuple[str, str] | None:
    """Other users who may write to a file or folder, and their class for `chmod`; None if there are none.

    A group does not count if it is root's, or has the name of the owner or of this user and no further members: many
    systems create one for each user and give it to all new files, with umask 002.
    """
    if facts.st_mode & stat.S_IWOTH:
        return "all users", "o"
    if not facts.st_mode & stat.S_IWGRP or facts.st_gid == 0:
        return None
    try:
        group = grp.getgrgid(facts.st_gid)
    except KeyError:
        name, members = str(facts.st_gid), set[str]()  # a container often has no names
    else:
        name, members = group.gr_name, set(group.gr_mem)
    if name in map(_user_name, (facts.st_uid, os.geteuid())) and members <= {name, "root"}:
        return None
    return f"the group {name}", "g"


def _user_name(user_id: int) -> str:
    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:
        return str(user_id)


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


@cache
def own_code() -> Sequence[str]:
    """The files and folders of the code that this process runs, with links resolved: Python, its packages and aeond. Those
    of the system are left out.
    """
    parts = ("bin", "lib", "lib64", "pyvenv.cfg")
    named = [Path(prefix, part) for prefix in (sys.prefix, sys.base_prefix) for part in parts]
    found = dict.fromkeys(str(place.resolve()) for place in (*named, Path(__file__).parent) if place.exists())
    return [place for place in found if not place.startswith("/usr/")]


def is_own_code(path: str) -> bool:
    """Whether an absolute path is that of a file or folder of this process's code."""
    return f"{path}/".startswith(_own_beginnings())


@cache
def _own_beginnings() -> tuple[str, ...]:
    return tuple(f"{place}/" for place in own_code())
