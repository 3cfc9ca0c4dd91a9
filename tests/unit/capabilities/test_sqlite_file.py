import threading
from pathlib import Path

import apsw
import pytest

from aeond.capabilities.sqlite_file import FileFormat, open_reader, open_writer, prepare, transaction


def test_a_transaction_happens_whole_or_not_at_all(tmp_path: Path) -> None:
    """A transaction that an exception ends is rolled back, and the connection can begin another transaction."""
    connection = apsw.Connection(str(tmp_path / "things.db"))
    connection.execute("CREATE TABLE things (name TEXT NOT NULL UNIQUE)")
    with pytest.raises(LookupError), transaction(connection):
        connection.execute("INSERT INTO things VALUES ('a')")
        raise LookupError
    with pytest.raises(apsw.ConstraintError), transaction(connection):
        connection.execute("INSERT INTO things VALUES ('b'), ('b')")
    with transaction(connection):
        connection.execute("INSERT INTO things VALUES ('c')")
    assert connection.execute("SELECT name FROM things").fetchall() == [("c",)]
    connection.close()


def test_other_threads_run_during_a_commit(tmp_path: Path) -> None:
    """A commit that waits, here for a reader in another thread, does not stop that thread, which would have to end first."""
    writer, reader = (apsw.Connection(str(tmp_path / "things.db")) for _ in range(2))
    writer.execute("CREATE TABLE things (name TEXT NOT NULL UNIQUE)")
    reader.execute("BEGIN; SELECT * FROM things")
    writer.set_busy_timeout(5_000)
    outcomes: list[apsw.Error | None] = []

    def commit() -> None:
        try:
            with transaction(writer):
                writer.execute("INSERT INTO things VALUES ('a')")
        except apsw.Error as error:
            outcomes.append(error)
        else:
            outcomes.append(None)

    thread = threading.Thread(target=commit)
    thread.start()
    while thread.is_alive() and admits_readers(tmp_path / "things.db"):
        pass
    reader.execute("COMMIT")
    thread.join(60)
    assert outcomes == [None]
    writer.close()
    reader.close()


def admits_readers(path: Path) -> bool:
    """Whether no commit is in progress: one that waits for readers lets no further ones in."""
    another = apsw.Connection(str(path))
    try:
        another.execute("SELECT * FROM things").fetchall()
    except apsw.BusyError:
        return False
    finally:
        another.close()
    return True


def test_no_connection_trusts_the_schema(tmp_path: Path) -> None:
    """Connections for reading and for writing call no unsafe function for a schema that was tampered with, and change no internal
    table."""
    form = FileFormat("things", 0x61657468, 1, "CREATE TABLE things (name TEXT NOT NULL UNIQUE) STRICT;")
    prepare(tmp_path / "things.db", form)
    for opened in (open_writer, open_reader):
        connection = opened(tmp_path / "things.db", form)
        assert connection.pragma("trusted_schema") == 0
        assert connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1) == 1
        connection.close()
