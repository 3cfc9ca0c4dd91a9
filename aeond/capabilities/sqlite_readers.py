"""Reading connections to one of our SQLite files: no reader waits for a change, however long that takes."""

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread
import apsw

from aeond.capabilities.sqlite_file import FileFormat, open_reader, transaction

MAX_READERS = 4
CLOSE_SECONDS = 3.0  # several stores close one after the other within the time that a stop has

T = TypeVar("T")
Rows = TypeVar("Rows")


def page_of(rows: Iterable[T], size_of: Callable[[T], int], most: int) -> list[T]:
    """The rows up to the one with which their sizes reach `most`; no further one is read."""
    page: list[T] = []
    size = 0
    for row in rows:
        page.append(row)
        size += size_of(row)
        if size >= most:
            break
    return page


class Readers:
    """Runs queries in worker threads, a few at a time; `deadline_seconds` limits each, including its wait. Connections
    are opened as they are needed and hold no locks between queries."""

    def __init__(
        self, path: Path, form: FileFormat, vfs: str | None = None, deadline_seconds: float = 30.0
    ) -> None:
        self._path = path
        self._form = form
        self._vfs = vfs
        self._deadline_seconds = deadline_seconds
        self._places = anyio.CapacityLimiter(MAX_READERS)
        # Guards what follows. A thread reads on when its caller is cancelled, so that places do not tell who reads.
        self._ended = threading.Condition()
        self._idle: list[apsw.Connection] = []
        self._reading = 0
        self._closed = False

    def open(self) -> None:
        """Admits queries again after `close`."""
        self._closed = False

    async def run(self, query: Callable[[apsw.Cursor], T]) -> T:
        """The result of the query, whose statements all see the same state. StoreError if the file is damaged or closed, or
        the disk does not respond.
        """
        return await self._on_thread(lambda: self._query(query))

    async def run_then(self, query: Callable[[apsw.Cursor], Rows], then: Callable[[Rows], T]) -> T:
        """As `run`; then applies a function to the result in the same thread. Long work belongs there: while a query is in
        progress, the log that it reads cannot begin again at its start.
        """
        return await self._on_thread(lambda: then(self._query(query)))

    async def close(self) -> None:
        """Waits for the queries in progress, those of cancelled callers too, and closes all connections; further queries are
        rejected. A query that lasts longer than CLOSE_SECONDS closes its connection when it ends.
        """
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._close, limiter=anyio.CapacityLimiter(1))

    async def _on_thread(self, work: Callable[[], T]) -> T:
        with anyio.move_on_after(self._deadline_seconds):
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._places)
        raise self._form.refusal(
            "STUCK",
            f"the {self._form.name} could not be read for {self._deadline_seconds:g} s: check the disk, then retry",
            retryable=True,
        )

    def _query(self, query: Callable[[apsw.Cursor], T]) -> T:
        with self._ended:
            if self._closed:
                raise self._form.refusal("CANNOT_OPEN", f"the {self._form.name} is closed")
            connection = self._idle.pop() if self._idle else None
            self._reading += 1
        done = False
        try:
            if connection is None:
                connection = open_reader(self._path, self._form, self._vfs)
            # What changes between two statements would be found twice, or never.
            with transaction(connection, "BEGIN"):
                cursor = connection.cursor()
                result = query(cursor)
                cursor.close(True)
            done = True
        except apsw.Error as error:
            raise self._form.failure(error, self._path) from error
        finally:
            self._end(connection, keep=done)
        return result

    def _end(self, connection: apsw.Connection | None, *, keep: bool) -> None:
        with self._ended:
            if connection is not None and keep and not self._closed and len(self._idle) < MAX_READERS:
                self._idle.append(connection)
            elif connection is not None:
                connection.close(True)  # its cursors too
            self._reading -= 1
            self._ended.notify_all()

    def _close(self) -> None:
        with self._ended:
            self._closed = True
            while self._idle:
                self._idle.pop().close(True)
            self._ended.wait_for(lambda: self._reading == 0, min(CLOSE_SECONDS, self._deadline_seconds))
