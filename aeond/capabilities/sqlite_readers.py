"""Reading connections to one of our SQLite files: no reader waits for a change, however long that takes."""

import contextlib
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread
import apsw

from aeond.capabilities.sqlite_file import FileFormat, open_reader, transaction

MAX_READERS = 4

T = TypeVar("T")


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
        self._idle: deque[apsw.Connection] = deque()
        self._closed = False
        self._places = anyio.CapacityLimiter(MAX_READERS)

    async def run(self, query: Callable[[apsw.Cursor], T]) -> T:
        """The result of the query, whose statements all see the same state. StoreError if the file is damaged or the
        disk does not respond.
        """
        with anyio.move_on_after(self._deadline_seconds):
            return await anyio.to_thread.run_sync(
                self._query, query, abandon_on_cancel=True, limiter=self._places
            )
        raise self._form.refusal(
            "STUCK",
            f"the {self._form.name} could not be read for {self._deadline_seconds:g} s: check the disk, then retry",
            retryable=True,
        )

    def close(self) -> None:
        """Closes idle connections; a connection in use is closed when its query ends."""
        self._closed = True
        self._close_idle()

    def _query(self, query: Callable[[apsw.Cursor], T]) -> T:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = open_reader(self._path, self._form, self._vfs)
        try:
            # What changes between two statements would be found twice, or never.
            with transaction(connection, "BEGIN"):
                cursor = connection.cursor()
                result = query(cursor)
                cursor.close(True)
        except apsw.Error as error:
            connection.close(True)
            raise self._form.failure(error, self._path) from error
        self._idle.append(connection)
        if self._closed:
            self._close_idle()
        return result

    def _close_idle(self) -> None:
        # Several threads may close concurrently: each takes what is left.
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().close(True)
