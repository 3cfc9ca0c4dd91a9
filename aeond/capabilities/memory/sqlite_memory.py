"""Memory on disk."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import anyio
import anyio.to_thread
import apsw

from aeond.capabilities.memory.entries import (
    MAX_FOUND,
    MAX_FOUND_BYTES,
    check_key,
    check_prefix,
    decode_value,
    encode_value,
    end_of,
)
from aeond.capabilities.sqlite_file import FileFormat, is_full, open_writer, prepare
from aeond.domain.values import JsonValue
from aeond.errors import StoreError

MEMORY = FileFormat(
    name="memory",
    application_id=0x61656D79,  # "aemy"
    version=1,
    schema="""
    CREATE TABLE entries (
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (namespace, key)
    ) STRICT, WITHOUT ROWID;
    """,
)

T = TypeVar("T")


class SqliteMemory:
    """A Memory in one SQLite file at `path`, made when there is none; its folder must exist.

    Each namespace has keys of its own. A write or delete is on disk when it returns; one that is cancelled
    or fails happened whole or not at all. Enter it before use: that refuses a file that cannot be used
    (StoreError: MEMORY_NEWER, _FOREIGN, _CORRUPT, _READ_ONLY, _CANNOT_OPEN, _UNSAFE). Later: DISK_FULL,
    MEMORY_BUSY, MEMORY_STUCK after `deadline_seconds`, and MEMORY_FAILED, after which nothing is written
    until the next start.
    """

    def __init__(
        self, path: Path, namespace: str = "user", *, deadline_seconds: float = 30.0, vfs: str | None = None
    ) -> None:
        self._path = path
        self._namespace = namespace
        self._deadline_seconds = deadline_seconds
        self._vfs = vfs
        self._turn = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._failure = ""

    async def __aenter__(self) -> Self:
        await self._on_thread(self._open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self._on_thread(self._close)

    async def write(self, key: str, value: JsonValue) -> None:
        entry = (self._namespace, check_key(key), encode_value(value))
        await self._change(
            "INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", entry
        )

    async def read(self, key: str) -> JsonValue | None:
        entry = (self._namespace, check_key(key))
        text = await self._ask(
            lambda cursor: (
                cursor.execute("SELECT value FROM entries WHERE namespace = ? AND key = ?", entry).get
            )
        )
        return None if text is None else decode_value(text)

    async def search(self, prefix: str, limit: int = 100, after: str = "") -> Sequence[tuple[str, JsonValue]]:
        """See ports.Memory; at most 1,000 entries and about 4 MiB, but at least one."""
        check_prefix(prefix)
        check_prefix(after)
        most = max(1, min(limit, MAX_FOUND))
        rows = await self._ask(lambda cursor: self._find(cursor, prefix, most, after))
        return [(key, decode_value(text)) for key, text in rows]

    async def delete(self, key: str) -> bool:
        entry = (self._namespace, check_key(key))
        return await self._change("DELETE FROM entries WHERE namespace = ? AND key = ?", entry) > 0

    # ------------------------------------------------------------ on a worker thread, one at a time

    def _open(self) -> None:
        prepare(self._path, MEMORY)
        self._connection = open_writer(self._path, MEMORY, self._vfs)

    def _close(self) -> None:
        if self._connection is not None:
            # The log goes back to the file, unless the disk failed: then the next start decides.
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(bool(self._failure)))
            self._connection.close(True)
            self._connection = None

    def _find(self, cursor: apsw.Cursor, prefix: str, limit: int, after: str) -> list[tuple[str, str]]:
        # Keys compare by code point, as Python's texts do; LIKE and GLOB would fold case or read wildcards.
        end = end_of(prefix)
        bound = "" if end is None else " AND key < ?"
        found: list[tuple[str, str]] = []
        size = 0
        for key, text in cursor.execute(
            "SELECT key, value FROM entries "  # noqa: S608 - fixed texts
            f"WHERE namespace = ? AND key >= ? AND key > ?{bound} ORDER BY key LIMIT ?",
            (self._namespace, prefix, after, *(() if end is None else (end,)), limit),
        ):
            found.append((key, text))
            size += len(text)
            if size >= MAX_FOUND_BYTES:
                break
        return found

    async def _change(self, sql: str, values: tuple[str, ...]) -> int:
        """Runs one statement, a transaction of its own; how many entries it changed."""

        def change(cursor: apsw.Cursor) -> int:
            if self._failure:
                raise MEMORY.refusal("FAILED", self._failure)
            try:
                cursor.execute(sql, values)
            except apsw.IOError as error:
                if not is_full(error):
                    self._failure = (
                        f"the disk failed under the memory {self._path} ({error}): check it, then restart"
                    )
                raise
            return cursor.connection.changes()

        return await self._ask(change)

    async def _ask(self, query: Callable[[apsw.Cursor], T]) -> T:
        def run() -> T:
            if self._connection is None:
                raise MEMORY.refusal("CANNOT_OPEN", "the memory is closed")
            cursor = self._connection.cursor()
            try:
                return query(cursor)
            except apsw.Error as error:
                raise MEMORY.failure(error, self._path) from error
            finally:
                cursor.close(True)

        return await self._on_thread(run)

    async def _on_thread(self, work: Callable[[], T]) -> T:
        def in_turn() -> T:
            if not self._turn.acquire(timeout=self._deadline_seconds):
                raise self._stuck()
            try:
                return work()
            finally:
                self._turn.release()

        with anyio.move_on_after(self._deadline_seconds):
            return await anyio.to_thread.run_sync(in_turn, abandon_on_cancel=True)
        raise self._stuck()

    def _stuck(self) -> StoreError:
        return MEMORY.refusal(
            "STUCK",
            f"the memory did not answer for {self._deadline_seconds:g} s: check the disk, then try again",
            retryable=True,
        )
