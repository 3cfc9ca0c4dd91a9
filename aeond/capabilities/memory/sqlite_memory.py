"""Memory on disk."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

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
from aeond.capabilities.sqlite_access import SqliteAccess
from aeond.capabilities.sqlite_file import FileFormat
from aeond.domain.values import JsonValue

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
        self._file = SqliteAccess(path, MEMORY, deadline_seconds=deadline_seconds, vfs=vfs)
        self._namespace = namespace

    async def __aenter__(self) -> Self:
        await self._file.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._file.close()

    async def write(self, key: str, value: JsonValue) -> None:
        entry = (self._namespace, check_key(key), encode_value(value))
        await self._change(
            "INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", entry
        )

    async def read(self, key: str) -> JsonValue | None:
        entry = (self._namespace, check_key(key))
        text = await self._file.read(
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
        rows = await self._file.read(lambda cursor: self._find(cursor, prefix, most, after))
        return [(key, decode_value(text)) for key, text in rows]

    async def delete(self, key: str) -> bool:
        entry = (self._namespace, check_key(key))
        return await self._change("DELETE FROM entries WHERE namespace = ? AND key = ?", entry) > 0

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
        """Runs one statement; how many entries it changed."""

        def change(cursor: apsw.Cursor) -> int:
            cursor.execute(sql, values)
            return cursor.connection.changes()

        return await self._file.change(change)
