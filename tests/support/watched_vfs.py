"""A SQLite VFS that shows every write and sync to a watcher before the disk sees it."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

_numbers = itertools.count()


class Watcher:
    """Sees what SQLite is about to do to a file; may raise instead of letting it happen."""

    def write(self, path: str, offset: int, data: bytes) -> None: ...

    def sync(self, path: str) -> None: ...

    def truncate(self, path: str, size: int) -> None: ...

    def delete(self, path: str) -> None: ...


@contextmanager
def watched_vfs(watcher: Watcher) -> Iterator[str]:
    """The name of a VFS that works on real files and tells the watcher, for as long as the block runs."""
    name = f"watched-{next(_numbers)}"
    vfs = _WatchedVFS(name, watcher)
    try:
        yield name
    finally:
        vfs.unregister()


class _WatchedVFS(apsw.VFS):
    def __init__(self, name: str, watcher: Watcher) -> None:
        self._watcher = watcher
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return _WatchedFile(self._watcher, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name
        self._watcher.delete(filename)
        super().xDelete(filename, syncdir)


class _WatchedFile(apsw.VFSFile):
    def __init__(self, watcher: Watcher, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._watcher = watcher
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._watcher.write(self._path, offset, bytes(data))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        self._watcher.sync(self._path)
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        self._watcher.truncate(self._path, newsize)
        super().xTruncate(newsize)
