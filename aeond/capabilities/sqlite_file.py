"""A SQLite file of ours: made whole or not at all, recognised before it is touched, durable by setting.

A file says what it is (`PRAGMA application_id`) and of which version (`PRAGMA user_version`). Both stand
in its first 100 bytes, so a file that is not ours, newer than this program, cut off or damaged is refused
by reading alone: nothing is written to it, and nothing beside it.

Every connection that writes works with a write-ahead log and syncs it before a commit returns; both
settings are read back, because SQLite answers with the old value where a file system cannot do it.
"""

import errno
import os
from pathlib import Path

import apsw

from aeond.errors import StoreError
from aeond.frozen import frozen

HEADER_BYTES = 100
MAGIC = b"SQLite format 3\0"

# FULL: a commit is on disk when it returns. NORMAL (1) would lose commits in a power cut.
SYNCHRONOUS = 2

# The release in which SQLite no longer loses a commit when the log is reset at the wrong moment.
OLDEST_SQLITE = (3, 51, 3)

# Files up to this size are checked page by page when they are opened (a tenth of a second); in larger
# ones damage is found when the damaged page is read.
CHECKED_BYTES = 64 << 20

BUSY_MILLISECONDS = 5_000

# Answers of a file system that has no room: SQLite reports some of them as failures to read or write.
_NO_ROOM = frozenset({apsw.SQLITE_FULL, apsw.SQLITE_IOERR_SHMSIZE})


@frozen
class FileFormat:
    """What a file of ours is. `name` begins the messages about it and, in capitals, their reasons;
    `schema` is the SQL that makes an empty one of this `version` (from 1)."""

    name: str
    application_id: int
    version: int
    schema: str

    def refusal(self, word: str, message: str, *, retryable: bool = False) -> StoreError:
        """The error whose reason is this file's name and the word."""
        return StoreError(message, reason=f"{self.name.upper()}_{word}", retryable=retryable)

    def failure(self, error: apsw.Error, path: Path) -> StoreError:
        """What an error of SQLite means to the caller."""
        if isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.FormatError):
            return self.refusal(
                "CORRUPT",
                f"the {self.name} {path} is damaged ({error}): keep the file, restore it from a backup, "
                "or move it away to begin a new one",
            )
        if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
            return self.refusal("READ_ONLY", f"the {self.name} {path} cannot be written: {_RIGHTS}")
        if isinstance(error, apsw.CantOpenError):
            return self.refusal("CANNOT_OPEN", f"the {self.name} {path} cannot be opened: {_RIGHTS}")
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            return self.refusal(
                "BUSY",
                f"another program holds the {self.name} {path}: let it finish, then try again",
                retryable=True,
            )
        if is_full(error):
            return StoreError(
                f"the disk of the {self.name} {path} is full: make room, then try again",
                reason="DISK_FULL",
                retryable=True,
            )
        return self.refusal("FAILED", f"the {self.name} {path} could not be read or written: {error}")


_RIGHTS = "check that file and folder exist and belong to the user of this program"


def is_full(error: apsw.Error) -> bool:
    """Whether SQLite failed because the disk has no room."""
    return isinstance(error, apsw.FullError) or getattr(error, "extendedresult", 0) in _NO_ROOM


def prepare(path: Path, form: FileFormat) -> None:
    """Checks the file, or makes it when there is none. To be called once, before any connection to it:
    the check opens the file by itself, and closing it again would drop SQLite's locks.

    Raises StoreError with reason <NAME>_NEWER, _FOREIGN, _CORRUPT, _READ_ONLY, _CANNOT_OPEN, _UNSAFE,
    _BUSY, _FAILED or DISK_FULL; the file is then as it was.
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
    """The connection that writes to a prepared file. `vfs` names a registered SQLite VFS.

    It leaves the log as it is when it is closed, unless told otherwise. StoreError as for `prepare`.
    """
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    except apsw.Error as error:
        raise form.failure(error, path) from error
    try:
        _make_safe(connection, path, form)
    except apsw.Error as error:
        connection.close()
        raise form.failure(error, path) from error
    except StoreError:
        connection.close()
        raise
    return connection


def open_reader(path: Path, form: FileFormat, vfs: str | None = None) -> apsw.Connection:
    """A connection that can only read. The file is there and was opened for writing before."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.pragma("query_only", True)
        connection.pragma("cache_size", -512)  # KiB: readers are several, and pages are read once
    except apsw.Error as error:
        raise form.failure(error, path) from error
    return connection


def _make_safe(connection: apsw.Connection, path: Path, form: FileFormat) -> None:
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.pragma("trusted_schema", False)
    if connection.readonly("main"):
        raise form.refusal("READ_ONLY", f"the {form.name} {path} cannot be written: {_RIGHTS}")
    if connection.pragma("journal_mode", "wal") != "wal":
        raise form.refusal(
            "UNSAFE", f"the file system of {path} cannot do a write-ahead log: use a local one"
        )
    connection.pragma("synchronous", SYNCHRONOUS)
    if connection.pragma("synchronous") != SYNCHRONOUS:
        raise form.refusal("UNSAFE", f"SQLite does not sync each commit to {path}: this build is not usable")


def _recognise(path: Path, form: FileFormat) -> bool:
    """Whether there is a file; raises StoreError when it is not one that we can use."""
    log = path.with_name(path.name + "-wal")
    try:
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
            size = file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        if log.exists() and log.stat().st_size:
            raise form.refusal(
                "CORRUPT", f"{path} is gone but its log {log.name} is there: restore the file beside it"
            ) from None
        return False
    if not header.startswith(MAGIC) or len(header) < HEADER_BYTES:
        raise form.refusal(
            "CORRUPT", f"{path} is damaged or no {form.name} ({size} bytes): restore it, or move it away"
        )
    application_id = int.from_bytes(header[68:72], "big")
    if application_id != form.application_id:
        raise form.refusal("FOREIGN", f"{path} belongs to another program: give the {form.name} another path")
    version = int.from_bytes(header[60:64], "big")
    if version > form.version:
        raise form.refusal(
            "NEWER",
            f"{path} was written by a newer version (format {version}, this program knows {form.version}): "
            "update this program",
        )
    pages, page_size = int.from_bytes(header[28:32], "big"), int.from_bytes(header[16:18], "big")
    # With a log beside it, the rest of the file may still be in the log.
    if size < pages * (page_size if page_size > 1 else 65_536) and not (log.exists() and log.stat().st_size):
        raise form.refusal("CORRUPT", f"{path} is cut off at {size} bytes: restore it from a backup")
    return True


def _create(path: Path, form: FileFormat) -> None:
    """Makes the file whole under another name and puts it in place in one move, readable by its owner."""
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
        connection.close()  # writes the log back and removes it
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
    """Reads the schema, and every page of a file that is small enough; writes nothing."""
    log = path.with_name(path.name + "-wal")
    logged = log.stat().st_size if log.exists() else 0
    # Without a log the file is all there is, and SQLite need not even make its lock files.
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
