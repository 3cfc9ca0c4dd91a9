"""One of our SQLite files, with one connection for changes, for stores that need no more."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread
import apsw

from aeond.capabilities.sqlite_file import (
    BUSY_MILLISECONDS,
    FileFormat,
    is_full,
    open_writer,
    prepare,
    transaction,
)
from aeond.capabilities.sqlite_readers import Readers
from aeond.errors import StoreError

# A log that is longer, because there was always a read in progress, is emptied by the next change beside which there is none.
LONG_LOG_BYTES = 32 << 20

_SMALL_CACHE_PAGES = 10

T = TypeVar("T")
Rows = TypeVar("Rows")


class SqliteAccess:
    """Runs queries on worker threads, changes one at a time and reads beside them, each within `deadline_seconds`,
    including its wait.

    A change is on disk when the call returns; a cancelled or failed change is atomic. StoreError with the
    format's name in its reason: _NEWER, _FOREIGN, _CORRUPT, _READ_ONLY, _CANNOT_OPEN, _UNSAFE from `open`;
    later also DISK_FULL, _BUSY, _STUCK, and _FAILED, after which changes are rejected until the next start.

    The first `change_now` extends the log to `log_bytes`, if the disk has much more space: to sync blocks that exist takes
    half the time.
    """

    def __init__(
        self,
        path: Path,
        form: FileFormat,
        *,
        deadline_seconds: float = 30.0,
        vfs: str | None = None,
        log_bytes: int = 0,
    ) -> None:
        self._path = path
        self._form = form
        self._deadline_seconds = deadline_seconds
        self._vfs = vfs
        self._log_bytes = log_bytes
        self._readers = Readers(path, form, vfs, deadline_seconds)
        self._turn = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._failure = ""

    async def open(self) -> None:
        """Creates the file if needed; its folder must exist."""
        await self._on_thread(self._open)
        self._readers.open()

    async def close(self) -> None:
        """Waits for the reads in progress."""
        with anyio.CancelScope(shield=True):
            await self._readers.close()  # first: the last connection to close checkpoints the log
            await self._on_thread(self._close)

    async def read(self, query: Callable[[apsw.Cursor], T]) -> T:
        """Runs a query that changes nothing, and need not wait for changes: it sees those that have returned."""
        self._opened()
        return await self._readers.run(query)

    async def read_then(self, query: Callable[[apsw.Cursor], Rows], then: Callable[[Rows], T]) -> T:
        """As `read`; then applies a function to the result, in the same thread, when the query has ended."""
        self._opened()
        return await self._readers.run_then(query, then)

    async def change(self, query: Callable[[apsw.Cursor], T]) -> T:
        """Runs the query as one transaction."""
        return await self._on_thread(lambda: self._query(self._transaction(query)))

    def change_now(self, query: Callable[[apsw.Cursor], T]) -> T:
        """As `change`, in the calling thread, which has the daemon's rights. The deadline limits the wait alone."""
        return self._in_turn(lambda: self._query(self._transaction(query, lengthens=True)))

    def _transaction(
        self, query: Callable[[apsw.Cursor], T], *, lengthens: bool = False
    ) -> Callable[[apsw.Cursor], T]:
        def in_transaction(cursor: apsw.Cursor) -> T:
            if self._failure:
                raise self._form.refusal("FAILED", self._failure)
            try:
                if lengthens:
                    self._lengthen_log(cursor.connection)
                with transaction(cursor.connection):
                    result = query(cursor)
                self._shorten_log(cursor.connection)
            except apsw.IOError as error:
                if not is_full(error):
                    self._failure = (
                        f"the disk failed under the {self._form.name} {self._path} ({error}): "
                        "check it, then restart"
                    )
                raise
            return result

        return in_transaction

    def _shorten_log(self, connection: apsw.Connection) -> None:
        """Empties a log that has become long, unless a read is in progress: then the next change tries. The change before it is on
        disk, whatever becomes of this.
        """
        with suppress(OSError, apsw.Error):
            if os.stat(connection.filename_wal).st_size < LONG_LOG_BYTES:  # noqa: PTH116 - a Path costs more than the rest of a small change
                return
            connection.set_busy_timeout(0)
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            finally:
                connection.set_busy_timeout(BUSY_MILLISECONDS)

    def _lengthen_log(self, connection: apsw.Connection) -> None:
        """Once: a transaction that is too large for memory and is rolled back. Its pages stay in the log as space."""
        size, self._log_bytes = self._log_bytes, 0
        if size == 0:
            return
        try:
            disk = os.statvfs(self._path.parent)
        except OSError:
            return
        if disk.f_bavail * disk.f_frsize < 8 * size:
            return
        page = connection.pragma("page_size")
        connection.wal_autocheckpoint(size // page)
        kept = connection.pragma("cache_size")
        connection.pragma("cache_size", _SMALL_CACHE_PAGES)
        try:
            connection.execute("BEGIN; CREATE TABLE room (content BLOB NOT NULL)")
            connection.execute(
                "INSERT INTO room VALUES (zeroblob(?))", (size + 2 * _SMALL_CACHE_PAGES * page,)
            )
        except apsw.Error as error:
            if not is_full(error):
                raise
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.pragma("cache_size", kept)

    # ------------------------------------------------------------ on a worker thread, one at a time

    def _open(self) -> None:
        prepare(self._path, self._form)
        self._connection = open_writer(self._path, self._form, self._vfs)

    def _close(self) -> None:
        if self._connection is not None:
            # Checkpoints the log, unless the disk failed: then the next start decides.
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(bool(self._failure)))
            self._connection.close(True)
            self._connection = None

    def _query(self, query: Callable[[apsw.Cursor], T]) -> T:
        cursor = self._opened().cursor()
        try:
            return query(cursor)
        except apsw.Error as error:
            raise self._form.failure(error, self._path) from error
        finally:
            cursor.close(True)

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            raise self._form.refusal("CANNOT_OPEN", f"the {self._form.name} is closed")
        return self._connection

    async def _on_thread(self, work: Callable[[], T]) -> T:
        with anyio.move_on_after(self._deadline_seconds):
            return await anyio.to_thread.run_sync(self._in_turn, work, abandon_on_cancel=True)
        raise self._stuck()

    def _in_turn(self, work: Callable[[], T]) -> T:
        if not self._turn.acquire(timeout=self._deadline_seconds):
            raise self._stuck()
        try:
            return work()
        finally:
            self._turn.release()

    def _stuck(self) -> StoreError:
        return self._form.refusal(
            "STUCK",
            f"the {self._form.name} did not respond for {self._deadline_seconds:g} s: check the disk,"
            " then retry",
            retryable=True,
        )
