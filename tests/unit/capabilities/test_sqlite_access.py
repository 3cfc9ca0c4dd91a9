from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from aeond.capabilities.sqlite_access import SqliteAccess
from aeond.capabilities.sqlite_file import FileFormat
from aeond.errors import NotFoundError, StoreError

THINGS = FileFormat("things", 0x61657468, 1, "CREATE TABLE things (name TEXT NOT NULL UNIQUE) STRICT;")


def add(*names: str, fail: Exception | None = None) -> Callable[[apsw.Cursor], int]:
    def query(cursor: apsw.Cursor) -> int:
        for name in names:
            cursor.execute("INSERT INTO things VALUES (?)", (name,))
        if fail is not None:
            raise fail
        return len(names)

    return query


def names(cursor: apsw.Cursor) -> list[str]:
    return [row[0] for row in cursor.execute("SELECT name FROM things ORDER BY name")]


async def test_a_change_is_one_transaction(tmp_path: Path) -> None:
    """A change that fails in its middle, by itself or by the file's rules, leaves nothing behind."""
    things = SqliteAccess(tmp_path / "things.db", THINGS)
    await things.open()
    assert await things.change(add("a", "b")) == 2
    with pytest.raises(NotFoundError):
        await things.change(add("c", fail=NotFoundError("no")))
    with pytest.raises(StoreError) as refused:
        await things.change(add("d", "a"))
    assert refused.value.reason == "THINGS_FAILED"
    assert await things.read(names) == ["a", "b"]
    assert await things.change(add("e")) == 1
    await things.close()
    again = SqliteAccess(tmp_path / "things.db", THINGS)
    await again.open()
    assert await again.read(names) == ["a", "b", "e"]
    await again.close()


async def test_what_is_closed_says_so(tmp_path: Path) -> None:
    """Before it is opened and after it was closed a file is neither read nor made."""
    things = SqliteAccess(tmp_path / "things.db", THINGS)
    with pytest.raises(StoreError) as refused:
        await things.read(names)
    assert refused.value.reason == "THINGS_CANNOT_OPEN"
    await things.close()
    assert list(tmp_path.iterdir()) == []
