import threading
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import apsw
import pytest

from aeond.capabilities.sqlite_file import FileFormat, open_writer, prepare
from aeond.capabilities.sqlite_readers import MAX_READERS, Readers
from aeond.errors import StoreError

THINGS = FileFormat("things", 0x61657468, 1, "CREATE TABLE things (name TEXT NOT NULL UNIQUE) STRICT;")


def names(cursor: apsw.Cursor) -> list[str]:
    return [row[0] for row in cursor.execute("SELECT name FROM things ORDER BY name")]


def written(path: Path) -> apsw.Connection:
    prepare(path, THINGS)
    return open_writer(path, THINGS)


async def test_a_reader_sees_what_is_committed_and_does_not_wait_for_a_change(tmp_path: Path) -> None:
    """While a change is under way a reader answers from what was committed before; afterwards with the change."""
    writer = written(tmp_path / "things.db")
    readers = Readers(tmp_path / "things.db", THINGS)
    with writer:
        writer.execute("INSERT INTO things VALUES ('a')")
        assert await readers.run(names) == []
    assert await readers.run(names) == ["a"]
    await readers.close()
    writer.close()


async def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    """A query that would change the file is an error."""
    writer = written(tmp_path / "things.db")
    readers = Readers(tmp_path / "things.db", THINGS)
    with pytest.raises(StoreError) as refused:
        await readers.run(lambda cursor: cursor.execute("INSERT INTO things VALUES ('a')"))
    assert refused.value.reason == "THINGS_READ_ONLY"
    assert await readers.run(names) == []
    await readers.close()
    writer.close()


async def test_so_many_queries_read_at_the_same_time(tmp_path: Path) -> None:
    """MAX_READERS queries are in progress together, and a further one runs once there is a place for it."""
    writer = written(tmp_path / "things.db")
    readers = Readers(tmp_path / "things.db", THINGS)
    most_read, goes_on = threading.Barrier(MAX_READERS + 1, timeout=30), threading.Event()
    counted = threading.Lock()
    reading, greatest = 0, 0

    def query(_cursor: apsw.Cursor) -> None:
        nonlocal reading, greatest
        with counted:
            reading += 1
            greatest = max(greatest, reading)
            number = reading
        if not goes_on.is_set() and number <= MAX_READERS:
            most_read.wait()
            goes_on.wait(30)
        with counted:
            reading -= 1

    async with anyio.create_task_group() as tasks:
        for _ in range(2 * MAX_READERS):
            tasks.start_soon(readers.run, query)
        await anyio.to_thread.run_sync(most_read.wait)
        await anyio.wait_all_tasks_blocked()  # a further query would have a thread now
        assert readers._places.statistics().tasks_waiting == MAX_READERS
        goes_on.set()
    assert greatest == MAX_READERS
    await readers.close()
    writer.close()


async def test_a_query_that_takes_too_long_is_an_error(tmp_path: Path) -> None:
    """A disk that does not respond costs its caller no more than the deadline."""
    writer = written(tmp_path / "things.db")
    readers = Readers(tmp_path / "things.db", THINGS, deadline_seconds=0.01)
    responds = threading.Event()
    with pytest.raises(StoreError) as refused:
        await readers.run(lambda _cursor: responds.wait(30))
    assert refused.value.reason == "THINGS_STUCK"
    assert refused.value.retryable
    responds.set()
    await readers.close()
    writer.close()


async def test_a_query_that_fails_leaves_no_connection_open(tmp_path: Path) -> None:
    """Whatever exception ends a query, its connection is closed, and the next query gets another one."""
    writer = written(tmp_path / "things.db")
    readers = Readers(tmp_path / "things.db", THINGS)
    cursors: list[apsw.Cursor] = []

    def query(cursor: apsw.Cursor) -> None:
        cursors.append(cursor)
        raise LookupError

    with pytest.raises(LookupError):
        await readers.run(query)
    with pytest.raises(apsw.CursorClosedError):
        cursors[0].execute("SELECT 1")
    assert await readers.run(names) == []
    await readers.close()
    writer.close()


async def test_what_follows_a_query_does_not_keep_the_log(tmp_path: Path) -> None:
    """While a query is in progress the log cannot be emptied; while a function is applied to its result it can."""
    writer = written(tmp_path / "things.db")
    writer.set_busy_timeout(0)
    readers = Readers(tmp_path / "things.db", THINGS)

    def emptied() -> bool:
        try:
            writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return False
        return (tmp_path / "things.db-wal").stat().st_size == 0

    writer.execute("INSERT INTO things VALUES ('a')")
    assert await readers.run(lambda cursor: (names(cursor), emptied())) == (["a"], False)
    writer.execute("UPDATE things SET name = 'b'")
    assert await readers.run_then(names, lambda found: (found, emptied())) == (["b"], True)
    await readers.close()
    writer.close()


async def test_closing_waits_for_queries_of_cancelled_callers(tmp_path: Path) -> None:
    """A query whose caller is gone is still in progress: `close` returns when it has ended, and its connection is closed."""
    writer = written(tmp_path / "things.db")
    readers = Readers(tmp_path / "things.db", THINGS)
    responds = threading.Event()
    cursors: list[apsw.Cursor] = []

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            began, closed = anyio.Event(), anyio.Event()

            def query(cursor: apsw.Cursor) -> None:
                cursors.append(cursor)
                anyio.from_thread.run_sync(began.set)
                responds.wait(30)

            async def close() -> None:
                await readers.close()
                closed.set()

            async with anyio.create_task_group() as callers:
                callers.start_soon(readers.run, query)
                await began.wait()
                callers.cancel_scope.cancel()
            tasks.start_soon(close)
            while not readers._closed:
                await anyio.lowlevel.checkpoint()
            assert not closed.is_set()
            with pytest.raises(StoreError) as refused:
                await readers.run(names)
            assert refused.value.reason == "THINGS_CANNOT_OPEN"
            assert not closed.is_set()
            responds.set()
    assert closed.is_set()
    with pytest.raises(apsw.CursorClosedError):
        cursors[0].execute("SELECT 1")
    writer.close()


async def test_readers_that_are_opened_again_keep_their_connections(tmp_path: Path) -> None:
    """After they were closed and opened, too, one query reads through the connection of the one before."""
    writer = written(tmp_path / "things.db")
    readers = Readers(tmp_path / "things.db", THINGS)
    await readers.close()
    readers.open()
    used = [await readers.run(lambda cursor: cursor.connection) for _ in range(2)]
    assert used[0] is used[1]
    await readers.close()
    writer.close()
