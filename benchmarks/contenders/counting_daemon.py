"""The real daemon, with every sync that SQLite requests counted in a file of eight bytes.

usage: counting_daemon.py COUNT_FILE [arguments of aeond]
"""

import mmap
import struct
import sys
from pathlib import Path

import apsw

DISK = "unix"  # the name of SQLite's default VFS
COUNT = struct.Struct("<q")


class CountedFile(apsw.VFSFile):
    """A database or log file whose syncs are counted."""

    def __init__(self, name: apsw.URIFilename | str | None, flags: list[int], count: mmap.mmap) -> None:
        super().__init__(DISK, name, flags)
        self._count = count

    def xSync(self, flags: int) -> None:  # noqa: N802 (SQLite's name)
        COUNT.pack_into(self._count, 0, COUNT.unpack_from(self._count)[0] + 1)
        super().xSync(flags)


class CountingVFS(apsw.VFS):
    """SQLite's default VFS with syncs counted."""

    def __init__(self, count: mmap.mmap) -> None:
        super().__init__("counting", DISK, makedefault=True)
        self._count = count

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> CountedFile:  # noqa: N802 (the same)
        return CountedFile(name, flags, self._count)


def counter(path: Path) -> mmap.mmap:
    """The shared counter; created with zero."""
    if not path.exists():
        path.write_bytes(COUNT.pack(0))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), COUNT.size)


def main() -> None:
    vfs = CountingVFS(counter(Path(sys.argv[1])))
    from aeond.daemon.main import main as serve

    sys.argv = ["aeond", *sys.argv[2:]]
    try:
        serve()
    finally:
        vfs.unregister()


if __name__ == "__main__":
    main()
