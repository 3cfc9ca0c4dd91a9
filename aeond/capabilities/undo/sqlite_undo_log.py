"""The undo log on disk."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, Self

import apsw

from aeond.capabilities.sqlite_access import SqliteAccess
from aeond.capabilities.sqlite_file import FileFormat
from aeond.domain.facts import FactSource
from aeond.domain.undo import Change, ChangeKind
from aeond.errors import InvalidInputError

MAX_CONTENT_BYTES: Final = 16 << 20
MAX_CHANGES: Final = 50_000
LOG_BYTES: Final = 1 << 20  # written back at this size, and begun again at its start

_TABLES: Final = """
    CREATE TABLE changes (
        change_id INTEGER PRIMARY KEY AUTOINCREMENT,
        owner TEXT NOT NULL,
        step_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        root TEXT NOT NULL,
        path TEXT NOT NULL,
        before BLOB,
        after TEXT NOT NULL,
        time REAL NOT NULL,
        mode INTEGER NOT NULL,
        moved_to TEXT NOT NULL,
        made_folders TEXT NOT NULL,
        kept INTEGER NOT NULL,
        found TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        UNIQUE (owner, step_id, call_id, path)
    ) STRICT;
    CREATE INDEX changes_by_size ON changes (bytes) WHERE bytes > 0;
    CREATE INDEX changes_by_time ON changes (time);
    """
_SOURCE: Final = "ALTER TABLE changes ADD COLUMN source TEXT;"


def _add_source(connection: apsw.Connection) -> None:
    """Version 2: the source of the fact that was changed; NULL in the changes recorded before."""
    connection.execute(_SOURCE)


UNDO = FileFormat(
    name="undo",
    application_id=0x6165756E,  # "aeun"
    version=2,
    schema=_TABLES + _SOURCE,
    upgrades=(_add_source,),
)

# The fields of a Change, by which its columns are named.
_FIELDS: Final = tuple(field.name for field in fields(Change))
_COLUMNS: Final = ", ".join(_FIELDS)


class SqliteUndoLog:
    """An UndoLog in one SQLite file at `path`, made when there is none; its folder must exist.

    All contents together take `max_bytes`; of more than MAX_CHANGES changes the oldest go. Enter it before use.
    StoreError as for SqliteAccess, with UNDO_ in its reasons.
    """

    def __init__(
        self,
        path: Path,
        max_bytes: int,
        *,
        deadline_seconds: float = 30.0,
        vfs: str | None = None,
        log_bytes: int = LOG_BYTES,
    ) -> None:
        self._file = SqliteAccess(path, UNDO, deadline_seconds=deadline_seconds, vfs=vfs, log_bytes=log_bytes)
        self._max_bytes = max_bytes
        self._kept_bytes: int | None = None  # of all contents; None until they are counted

    async def __aenter__(self) -> Self:
        await self._file.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._file.close()

    @property
    def max_content_bytes(self) -> int:
        return min(MAX_CONTENT_BYTES, self._max_bytes)

    async def record(self, change: Change) -> None:
        query = self._recording(change)
        with self._counted_again_after_failure():
            await self._file.change(query)

    def record_now(self, change: Change) -> None:
        query = self._recording(change)
        with self._counted_again_after_failure():
            self._file.change_now(query)

    def _recording(self, change: Change) -> Callable[[apsw.Cursor], None]:
        size = len(change.before or b"")
        if size > self.max_content_bytes:
            raise InvalidInputError(
                f"the undo log keeps contents of at most {self.max_content_bytes} bytes, this one has {size}",
                reason="CONTENT_TOO_LARGE",
            )
        return lambda cursor: self._record(cursor, change, size)

    @contextmanager
    def _counted_again_after_failure(self) -> Iterator[None]:
        done = False
        try:
            yield
            done = True
        finally:
            if not done:
                self._kept_bytes = None

    async def find(self, owner: str, step_id: str, call_id: str) -> Sequence[Change]:
        return await self._file.read(
            lambda cursor: _changes(
                cursor,
                "WHERE owner = ? AND step_id = ? AND call_id = ? ORDER BY change_id",
                (owner, step_id, call_id),
            )
        )

    async def latest(self, owners: Sequence[str], below: int = 0) -> Change | None:
        # One array in place of one value for each owner: SQLite bounds the number of values.
        condition = "WHERE owner IN (SELECT value FROM json_each(?)) AND (? = 0 OR change_id < ?)"
        found = await self._file.read(
            lambda cursor: _changes(
                cursor,
                f"{condition} ORDER BY change_id DESC LIMIT 1",
                (json.dumps(list(owners)), below, below),
            )
        )
        return found[0] if found else None

    async def settle(self, change_id: int) -> None:
        await self._file.change(lambda cursor: self._delete(cursor, "change_id = ?", (change_id,)))

    async def prune(self, before_time: float) -> int:
        return await self._file.change(lambda cursor: self._delete(cursor, "time < ?", (before_time,)))

    def _record(self, cursor: apsw.Cursor, change: Change, size: int) -> None:
        self._delete(
            cursor,
            "owner = ? AND step_id = ? AND call_id = ? AND path = ?",
            (change.owner, change.step_id, change.call_id, change.path),
        )
        row = {name: getattr(change, name) for name in _FIELDS if name != "change_id"} | {
            "made_folders": json.dumps(change.made_folders),
            "kept": int(change.kept),
            "source": _source_text(change.source),
            "bytes": size,
        }
        places = ", ".join(f":{name}" for name in row)
        cursor.execute(f"INSERT INTO changes ({', '.join(row)}) VALUES ({places})", row)  # noqa: S608 - fixed texts
        self._make_room(cursor, size)

    def _delete(self, cursor: apsw.Cursor, condition: str, values: tuple[str | int | float, ...]) -> int:
        cursor.execute(f"DELETE FROM changes WHERE {condition}", values)  # noqa: S608 - fixed texts
        deleted = cursor.connection.changes()
        if deleted:
            self._kept_bytes = None
        return deleted

    def _make_room(self, cursor: apsw.Cursor, size: int) -> None:
        """Lets go of the oldest contents, and of the oldest changes, until both bounds hold. The contents are counted
        only after others than the new one changed: a sum over a full log takes longer than the record."""
        total = self._kept_bytes
        if total is None:
            total = cursor.execute("SELECT coalesce(sum(bytes), 0) FROM changes WHERE bytes > 0").get
        else:
            total += size
        while total > self._max_bytes:
            change_id, size = cursor.execute(
                "SELECT change_id, bytes FROM changes WHERE bytes > 0 ORDER BY change_id LIMIT 1"
            ).get
            cursor.execute(
                "UPDATE changes SET before = NULL, bytes = 0, kept = 0 WHERE change_id = ?", (change_id,)
            )
            total -= size
        self._kept_bytes = total
        self._delete(cursor, "change_id <= (SELECT max(change_id) FROM changes) - ?", (MAX_CHANGES,))


def _changes(cursor: apsw.Cursor, condition: str, values: tuple[str | int, ...]) -> list[Change]:
    rows = cursor.execute(f"SELECT {_COLUMNS} FROM changes {condition}", values)  # noqa: S608 - fixed texts
    return [_change(*row) for row in rows]


def _change(*columns: Any) -> Change:
    row = dict(zip(_FIELDS, columns, strict=True))
    row["kind"] = ChangeKind(row["kind"])
    row["made_folders"] = tuple(json.loads(row["made_folders"]))
    row["kept"] = bool(row["kept"])
    row["source"] = _source(row["source"])
    return Change(**row)


def _source_text(source: FactSource | None) -> str | None:
    return None if source is None else json.dumps([source.run_id, source.taint])


def _source(text: str | None) -> FactSource | None:
    if text is None:
        return None
    run_id, taint = json.loads(text)
    return FactSource(run_id, tuple(taint))
