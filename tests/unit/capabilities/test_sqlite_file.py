import threading
from pathlib import Path

import apsw
import pytest

from aeond.capabilities.sqlite_file import transaction


def test_a_transaction_happens_whole_or_not_at_all(tmp_path: Path) -> None:
    """What an exception ends is taken back, and the connection can begin another transaction."""
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
    writer.set_busy_timeout(5_000)
    writer.execute("CREATE TABLE things (name TEXT NOT NULL UNIQUE)")
    reader.execute("BEGIN; SELECT * FROM things")
    committing = threading.Event()
    outcomes: list[apsw.Error | None] = []

    def commit() -> None:
        try:
            with transaction(writer):
                writer.execute("INSERT INTO things VALUES ('a')")
                committing.set()
        except apsw.Error as error:
            outcomes.append(error)
        else:
            outcomes.append(None)

    thread = threading.Thread(target=commit)
    thread.start()
    assert committing.wait(60)
    reader.execute("COMMIT")
    thread.join(60)
    assert outcomes == [None]
    writer.close()
    reader.close()
