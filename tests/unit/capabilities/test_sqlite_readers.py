import threading
from pathlib import Path

import anyio
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
    readers.close()
    writer.close()


async def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    """A query that would change the file is an error."""
    writer = written(tmp_path / "things.db")
    readers = Readers(tmp_path / "things.db", THINGS)
    with pytest.raises(StoreError) as refused:
        await readers.run(lambda cursor: cursor.execute("INSERT INTO things VALUES ('a')"))
    assert refused.value.reason == "THINGS_READ_ONLY"
    assert await readers.run(names) == []
    readers.close()
    writer.close()


async def test_so_many_queries_read_at_the_same_time(tmp_path: Path) -> None:
    """MAX_READERS queries are in progress together, and a further one runs once there is a place for it."""
    writer = written(tmp_path / "things.db")
    readers = Readers(tmp_path / "things.db", THINGS)
    all_read = threading.Barrier(MAX_READERS, timeout=30)

    def query(_cursor: apsw.Cursor) -> int:
        return all_read.wait()

    async with anyio.create_task_group() as tasks:
        for _ in range(2 * MAX_READERS):
            tasks.start_soon(readers.run, query)
    assert not all_read.broken
    readers.close()
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
    readers.close()
    writer.close()
