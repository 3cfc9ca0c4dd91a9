"""The state of a file: its content, its permissions, and an identity by which a later change is noticed."""

import errno
import hashlib
import os
import stat
from typing import Final

from aeond.frozen import frozen

MAX_CONTENT_BYTES: Final = 16 << 20  # of a file that is read whole
NO_FILE: Final = ""
"""The identity of a file that does not exist."""


@frozen
class FileState:
    """A regular file as it was read. `identity` is the sha256 of the content; of a file larger than
    MAX_CONTENT_BYTES, whose `content` is None, it is made of its size and its time of change."""

    identity: str
    size: int
    mode: int
    content: bytes | None


def identity_of(content: bytes) -> str:
    """The identity of a file with this content."""
    return hashlib.sha256(content).hexdigest()


def state_of(opened: int) -> FileState:
    """The state of the regular file behind a descriptor, which is left at its end."""
    facts = os.fstat(opened)
    mode = stat.S_IMODE(facts.st_mode) & 0o777
    if facts.st_size <= MAX_CONTENT_BYTES:
        with os.fdopen(os.dup(opened), "rb") as file:
            content = file.read(facts.st_size + 1)  # with room for all of it alone: 16 MiB of room cost more
            if len(content) > facts.st_size:  # it grows
                content += file.read(MAX_CONTENT_BYTES + 1 - len(content))
        if len(content) <= MAX_CONTENT_BYTES:
            return FileState(identity_of(content), len(content), mode, content)
    return FileState(f"{facts.st_size}-{facts.st_mtime_ns}", facts.st_size, mode, None)


def require_identity(name: str, folder: int, expected: str | None) -> None:
    """OSError (EBUSY) unless the entry of the folder has this identity; None stands for any."""
    if expected is None:
        return
    found = NO_FILE
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        pass
    else:
        try:
            found = state_of(opened).identity
        finally:
            os.close(opened)
    if found != expected:
        raise OSError(errno.EBUSY, "changed by others", name)
