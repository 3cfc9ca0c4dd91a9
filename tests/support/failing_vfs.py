"""A SQLite VFS whose disk fails on request."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import apsw

from tests.support.watched_vfs import Watcher, watched_vfs


class DiskError(apsw.IOError):
    """The error that SQLite makes of a failed system call; the code says of which."""

    result = apsw.SQLITE_IOERR

    def __init__(self, code: int) -> None:
        super().__init__("the disk failed")
        self.extendedresult = code


@dataclass
class Failing(Watcher):
    """Counts writes and syncs; fails the one whose number is `fail_at` (from 1), and all later ones if
    `for_good`. `counted` says which of them count. `full` makes every write find no room."""

    counted: tuple[str, ...] = ("write", "sync")
    fail_at: int = 0
    for_good: bool = False
    full: bool = False
    done: int = 0
    failed: list[str] = field(default_factory=list)

    def write(self, path: str, offset: int, data: bytes) -> None:
        if self.full:
            raise apsw.FullError("no room")
        self._count("write", apsw.SQLITE_IOERR_WRITE)

    def sync(self, path: str) -> None:
        self._count("sync", apsw.SQLITE_IOERR_FSYNC)

    def _count(self, what: str, code: int) -> None:
        if what not in self.counted:
            return
        self.done += 1
        if self.fail_at and (self.done == self.fail_at or (self.for_good and self.done > self.fail_at)):
            self.failed.append(what)
            raise DiskError(code)


@dataclass
class Hanging(Watcher):
    """A disk whose syncs do not return while it hangs."""

    arrived: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    hangs: bool = False

    def sync(self, path: str) -> None:
        if self.hangs:
            self.arrived.set()
            self.released.wait(60)


@contextmanager
def failing_vfs() -> Iterator[tuple[str, Failing]]:
    """The name of a VFS, and what decides when it fails."""
    failing = Failing()
    with watched_vfs(failing) as name:
        yield name, failing


@contextmanager
def hanging_vfs() -> Iterator[tuple[str, Hanging]]:
    """The name of a VFS, and what makes it hang; it is let go when the block ends."""
    hanging = Hanging()
    with watched_vfs(hanging) as name:
        try:
            yield name, hanging
        finally:
            hanging.released.set()
