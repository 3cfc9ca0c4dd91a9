"""Our SQLite files: created atomically, identified before they are changed, and configured for durability.

A file states its type (`PRAGMA application_id`) and version (`PRAGMA user_version`). Both are in its first
100 bytes, so a file that is foreign, newer than this program, truncated or damaged is detected by reading
alone: neither the file nor its folder is changed.

Every writing connection uses a write-ahead log and syncs it before a commit returns. Both settings are read
back, because SQLite returns the old value if a file system does not support them.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from aeond.errors import StoreError
from aeond.frozen import frozen

HEADER_BYTES = 100
MAGIC = b"SQLite format 3\0"

# FULL: a commit is on disk when it returns. NORMAL (1) would lose commits in a power failure.
SYNCHRONOUS = 2

# The first SQLite release that does not lose a commit if the log is reset at the wrong time.
OLDEST_SQLITE = (3, 51, 3)

# Files up to this size are checked page by page when they are opened (a tenth of a second); in larger ones
# damage is detected when a damaged page is read.
CHECKED_BYTES = 64 << 20

BUSY_MILLISECONDS = 5_000

# Errors of file systems without space: SQLite reports some of them as read or write failures.
_NO_ROOM = frozenset({apsw.SQLITE_FULL, apsw.SQLITE_IOERR_SHMSIZE})


@frozen
class FileFormat:
    """A file format. `name` starts its messages and, in capitals, their reasons; `schema` is the SQL that
    creates an empty file of this `version` (from 1). `upgrades` holds SQL or a function for each version but the
    last: the first turns version 1 into version 2.
    """

    name: str
    application_id: int
    version: int
    schema: str
    upgrades: tuple[str | Callable[[apsw.Connection], None], ...] = ()

    def refusal(self, word: str, message: str, *, retryable: bool = False) -> StoreError:
        """The error whose reason consists of this format's name and the word."""
        return StoreError(message, reason=f"{self.name.upper()}_{word}", retryable=retryable)

    def failure(self, error: apsw.Error, path: Path) -> StoreError:
        """Translates a SQLite error for the caller."""
        if isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.FormatError):
            return self.refusal(
                "CORRUPT",
                f"the {self.name} {path} is damaged ({error}): keep the file, restore it from a backup,"
                " or move it away to start a new one",
            )
        if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
            return self.refusal("READ_ONLY", f"the {self.name} {path} cannot be written: {_RIGHTS}")
        if isinstance(error, apsw.CantOpenError):
            return self.refusal("CANNOT_OPEN", f"the {self.name} {path} cannot be opened: {_RIGHTS}")
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            return self.refusal(
                "BUSY",
                f"another program has locked the {self.name} {path}: let it finish, then retry",
                retryable=True,
            )
        if is_full(error):
            return StoreError(
                f"the disk of the {self.name} {path} is full: free some space, then retry",
                reason="DISK_FULL",
                retryable=True,
            )
        return self.refusal("FAILED", f"the {self.name} {path} could not be read or written: {error}")


_RIGHTS = "check that file and folder exist and belong to the user of this program"


def is_full(error: apsw.Error) -> bool:
    """Whether SQLite failed because the disk is full."""
    return isinstance(error, apsw.FullError) or getattr(error, "extendedresult", 0) in _NO_ROOM


def prepare(path: Path, form: FileFormat) -> None:
    """Checks the file, or creates it. Call once, before any connection to it exists: the check opens the file
    itself, and closing it would drop SQLite's locks.

    Raises StoreError with reason <NAME>_NEWER, _FOREIGN, _CORRUPT, _READ_ONLY, _CANNOT_OPEN, _UNSAFE, _BUSY,
    _FAILED or DISK_FULL; the file is then unchanged.
    """
    if tuple(int(part) for part in apsw.sqlite_lib_version().split(".")) < OLDEST_SQLITE:
        raise form.refusal("UNSAFE", f"SQLite {apsw.sqlite_lib_version()} can lose commits: update apsw")
    try:
        if not _recognise(path, form):
            _create(path, form)
        _check_rights(path, form)
        _check_content(path, form)
    except apsw.Error as error:
        raise form.failure(error, path) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise form.failure(apsw.FullError(), path) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise form.failure(apsw.ReadOnlyError(), path) from error
        raise form.refusal("CANNOT_OPEN", f"the {form.name} {path} cannot be opened: {error}") from error


def open_writer(path: Path, form: FileFormat, vfs: str | None = None) -> apsw.Connection:
    """Opens the writing connection to a prepared file. `vfs` names a registered SQLite VFS.

    A file of an older version is upgraded in one transaction. Closing the connection leaves the log unchanged,
    unless configured otherwise. StoreError as for `prepare`.
    """
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    except apsw.Error as error:
        raise form.failure(error, path) from error
    try:
        _make_safe(connection, path, form)
        _upgrade(connection, form)
    except apsw.Error as error:
        connection.close()
        raise form.failure(error, path) from error
    except StoreError:
        connection.close()
        raise
    return connection


def open_reader(path: Path, form: FileFormat, vfs: str | None = None) -> apsw.Connection:
    """A read-only connection. The file must exist and must have been opened for writing before."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    except apsw.Error as error:
        raise form.failure(error, path) from error
    try:
        _distrust(connection)
        connection.pragma("query_only", True)
        connection.pragma("cache_size", -512)  # KiB: there are several readers, and pages are read once
    except apsw.Error as error:
        connection.close()
        raise form.failure(error, path) from error
    return connection


@contextmanager
def transaction(connection: apsw.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """Commits at the end of the context; rolls back after an exception. `with connection` would keep the interpreter's lock during
    the commit, and all threads would wait for the disk: it is used only while a file is opened."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _distrust(connection: apsw.Connection) -> None:
    """What every connection has: a schema that was tampered with calls no unsafe functions."""
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.pragma("trusted_schema", False)


def _make_safe(connection: apsw.Connection, path: Path, form: FileFormat) -> None:
    _distrust(connection)
    if connection.readonly("main"):
        raise form.refusal("READ_ONLY", f"the {form.name} {path} cannot be written: {_RIGHTS}")
    if connection.pragma("journal_mode", "wal") != "wal":
        raise form.refusal(
            "UNSAFE", f"the file system of {path} does not support a write-ahead log: use a local one"
        )
    connection.pragma("synchronous", SYNCHRONOUS)
    if connection.pragma("synchronous") != SYNCHRONOUS:
        raise form.refusal("UNSAFE", f"SQLite does not sync commits to {path}: this build cannot be used")


def _upgrade(connection: apsw.Connection, form: FileFormat) -> None:
    while (version := connection.pragma("user_version")) < form.version:
        with connection:
            upgrade = form.upgrades[version - 1]
            if isinstance(upgrade, str):
                connection.execute(upgrade)
            else:
                upgrade(connection)
            connection.pragma("user_version", version + 1)


def _recognise(path: Path, form: FileFormat) -> bool:
    """Whether the file exists; raises StoreError if it cannot be used."""
    log = path.with_name(path.name + "-wal")
    try:
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
            size = file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        if log.exists() and log.stat().st_size:
            raise form.refusal(
                "CORRUPT", f"{path} is missing but its log {log.name} exists: restore the file beside it"
            ) from None
        return False
    if not header.startswith(MAGIC) or len(header) < HEADER_BYTES:
        raise form.refusal(
            "CORRUPT", f"{path} is damaged or not a {form.name} ({size} bytes): restore it, or move it away"
        )
    application_id = int.from_bytes(header[68:72], "big")
    if application_id != form.application_id:
        raise form.refusal(
            "FOREIGN", f"{path} belongs to another program: configure another path for the {form.name}"
        )
    version = int.from_bytes(header[60:64], "big")
    if version > form.version:
        raise form.refusal(
            "NEWER",
            f"{path} was written by a newer version (format {version}, this program knows {form.version}): "
            "update this program",
        )
    pages, page_size = int.from_bytes(header[28:32], "big"), int.from_bytes(header[16:18], "big")
    # If there is a log, the rest of the file may still be in it.
    if size < pages * (page_size if page_size > 1 else 65_536) and not (log.exists() and log.stat().st_size):
        raise form.refusal("CORRUPT", f"{path} is truncated at {size} bytes: restore it from a backup")
    return True


def _create(path: Path, form: FileFormat) -> None:
    """Creates the file under a temporary name and renames it into place, readable by its owner only."""
    young = path.with_name(path.name + "-new")
    for leftover in (young, *(young.with_name(young.name + end) for end in ("-wal", "-shm", "-journal"))):
        leftover.unlink(missing_ok=True)
    os.close(os.open(young, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = apsw.Connection(str(young))
    try:
        connection.pragma("application_id", form.application_id)
        connection.pragma("journal_mode", "wal")
        with connection:
            connection.execute(form.schema)
            connection.pragma("user_version", form.version)
    finally:
        connection.close()  # checkpoints the log and removes it
    with young.open("rb") as file:
        os.fsync(file.fileno())
    young.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _check_rights(path: Path, form: FileFormat) -> None:
    for place in (path, path.parent):
        if not os.access(place, os.W_OK):
            raise form.refusal("READ_ONLY", f"{place} cannot be written: {_RIGHTS}")


def _check_content(path: Path, form: FileFormat) -> None:
    """Reads the schema, and every page of a small file; writes nothing."""
    log = path.with_name(path.name + "-wal")
    logged = log.stat().st_size if log.exists() else 0
    # Without a log the file is complete, and SQLite need not even create its lock files.
    address = path.absolute().as_uri() + ("" if logged else "?immutable=1")
    flags = apsw.SQLITE_OPEN_URI | (apsw.SQLITE_OPEN_READWRITE if logged else apsw.SQLITE_OPEN_READONLY)
    connection = apsw.Connection(address, flags=flags)
    try:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.pragma("query_only", True)
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
        if path.stat().st_size + logged <= CHECKED_BYTES:
            finding = connection.execute("PRAGMA quick_check(1)").get
            if finding != "ok" or not tables:
                raise form.refusal(
                    "CORRUPT", f"{path} is damaged ({finding}): restore it from a backup, or move it away"
                )
    finally:
        connection.close()
