"""Disk space reserved for the time when the disk is full."""

import errno
import os
from pathlib import Path

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Reserve:
    """A file of `size` bytes beside the journal, allocated and never written to.

    It is released when the disk is full, so that each run can still record its suspension, and created again
    once there is space.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._size = size

    @property
    def room(self) -> int:
        """The number of bytes available on the disk."""
        disk = os.statvfs(self._path.parent)
        return disk.f_bavail * disk.f_frsize

    def make(self) -> bool:
        """Allocates the file unless it exists; False if the disk has too little space.

        The disk must have twice the space: otherwise the space released for last events would be taken back
        before they are written.
        """
        if self._path.exists() and self._path.stat().st_blocks * 512 >= self._size:
            return True
        if self.room < 2 * self._size:
            return False
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            if error.errno in _NO_ROOM:
                return False
            raise
        try:
            os.posix_fallocate(file, 0, self._size)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            self.free()
            return False
        finally:
            os.close(file)
        return True

    def free(self) -> None:
        self._path.unlink(missing_ok=True)
