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


def _at_once(path: str, flags: int) -> int:
    """Opens without waiting, which opening a FIFO does for as long as nobody writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)
