"""Files of the user's that are read as a whole, once."""

import errno
import os
import stat
from pathlib import Path


def read_plain(path: Path, max_bytes: int) -> tuple[os.stat_result, bytes]:
    """What is known of the file, and what is in that very file, one byte beyond `max_bytes` at most.

    OSError when it cannot be read or is no regular file; never waits for another program to write.
    """
    with open(path, "rb", opener=_at_once) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        return facts, file.read(max_bytes + 1)


def changeable(path: Path, facts: os.stat_result) -> str:
    """Why somebody who is neither this user nor root could change or replace the file of which these facts are, and
    what to do; "" when nobody could. OSError when its folder cannot be looked at."""
    folder = path.resolve().parent.stat().st_mode
    if facts.st_mode & stat.S_IWOTH:
        return "everybody may change it: chmod o-w it"
    if facts.st_uid not in (0, os.geteuid()):
        return "it belongs to another user: chown it"
    if folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
        return "everybody may replace it: chmod o-w its folder"
    return ""


def _at_once(path: str, flags: int) -> int:
    """Opens without waiting, which opening a FIFO does for as long as nobody writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)
