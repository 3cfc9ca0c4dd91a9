import os
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.lowlevel
import apsw
import pytest

from aeond.capabilities.sqlite_access import SqliteAccess
from aeond.capabilities.sqlite_file import FileFormat
from aeond.errors import NotFoundError, StoreError

LOG_BYTES = 256 << 10
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


async def test_a_closed_file_is_an_error(tmp_path: Path) -> None:
    """Before it is opened and after it was closed a file is neither read nor made."""
    things = SqliteAccess(tmp_path / "things.db", THINGS)
    with pytest.raises(StoreError) as refused:
        await things.read(names)
    assert refused.value.reason == "THINGS_CANNOT_OPEN"
    await things.close()
    assert list(tmp_path.iterdir()) == []


async def test_a_query_to_read_changes_nothing(tmp_path: Path) -> None:
    """A read that would change the file is rejected."""
    things = SqliteAccess(tmp_path / "things.db", THINGS)
    await things.open()
    with pytest.raises(StoreError) as refused:
        await things.read(add("a"))
    assert refused.value.reason == "THINGS_READ_ONLY"
    await things.close()


async def test_the_first_change_of_a_thread_extends_the_log(tmp_path: Path) -> None:
    """The log has its full size before the first change that a thread waits for, and keeps it; nothing else is left."""
    things = SqliteAccess(tmp_path / "things.db", THINGS, log_bytes=LOG_BYTES)
    await things.open()
    log = tmp_path / "things.db-wal"
    await things.change(add("0"))
    assert log.stat().st_size < LOG_BYTES
    things.change_now(add("a"))
    extended = log.stat().st_size
    assert extended >= LOG_BYTES
    for number in range(200):
        things.change_now(add(f"b{number}"))
    assert log.stat().st_size == extended
    tables = await things.read(
        lambda cursor: [*cursor.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    )
    assert tables == [("things",)]
    await things.close()


async def test_a_log_is_not_extended_into_the_last_space(tmp_path: Path) -> None:
    """A disk without much more space than the log takes is left to the changes themselves."""
    disk = os.statvfs(tmp_path)
    things = SqliteAccess(tmp_path / "things.db", THINGS, log_bytes=disk.f_bavail * disk.f_frsize // 2)
    await things.open()
    things.change_now(add("a"))
    assert (tmp_path / "things.db-wal").stat().st_size < LOG_BYTES
    await things.close()


async def test_closing_waits_for_reads_and_empties_the_log(tmp_path: Path) -> None:
    """A read in progress gets its answer, and no log is left behind; the file can be opened and read again."""
    things = SqliteAccess(tmp_path / "things.db", THINGS)
    await things.open()
    await things.change(add("a"))
    began, goes_on = anyio.Event(), threading.Event()
    answers: list[list[str]] = []

    def slow(cursor: apsw.Cursor) -> list[str]:
        anyio.from_thread.run_sync(began.set)
        goes_on.wait(30)
        return names(cursor)

    async def read() -> None:
        answers.append(await things.read(slow))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await began.wait()
            tasks.start_soon(things.close)
            while not things._readers._closed:
                await anyio.lowlevel.checkpoint()
            goes_on.set()
    assert answers == [["a"]]
    assert [path.name for path in tmp_path.iterdir()] == ["things.db"]
    await things.open()
    assert await things.read(names) == ["a"]
    await things.close()


async def test_a_long_log_is_emptied_as_soon_as_reads_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that a read kept from beginning again is emptied by the next change after the read; the read delays and fails no change, nor
    does an unfinished query of the change itself, and a file that is reached by a link has its log where the file is."""
    monkeypatch.setattr("aeond.capabilities.sqlite_access.LONG_LOG_BYTES", 1)
    real = tmp_path / "real" / "things.db"
    real.parent.mkdir()
    created = SqliteAccess(real, THINGS)
    await created.open()
    await created.close()
    (tmp_path / "things.db").symlink_to(real)
    things = SqliteAccess(tmp_path / "things.db", THINGS)
    await things.open()
    log = real.with_name("things.db-wal")
    await things.change(add("a"))
    assert log.stat().st_size == 0
    other = apsw.Connection(str(real))
    other.execute("BEGIN; SELECT * FROM things")
    await things.change(add("b"))
    assert log.stat().st_size > 0
    other.execute("COMMIT")
    other.close()

    def looking(cursor: apsw.Cursor) -> None:
        add("c")(cursor)
        cursor.execute("SELECT name FROM things").fetchone()

    await things.change(looking)
    await things.change(add("d"))
    assert log.stat().st_size == 0
    assert await things.read(names) == ["a", "b", "c", "d"]
    await things.close()
