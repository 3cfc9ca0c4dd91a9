"""The file of the undo log."""

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from aeond.capabilities.undo.sqlite_undo_log import SqliteUndoLog
from aeond.domain.facts import FactSource
from aeond.domain.undo import Change, ChangeKind

MAX_BYTES = 1_000
VERSION_1 = """
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
    INSERT INTO changes VALUES
        (7, 'run1', 's1', 'c1', 'fact', '', 'advice', x'2262757922', 'sha', 1.0, 420, '', '[]', 1, '', 5),
        (8, 'run1', 's2', 'c2', 'file_written', '/srv', 'a/b', NULL, 'sha', 2.0, 384, '', '["a"]', 1, '', 0);
    PRAGMA application_id = 1634039150;
    PRAGMA user_version = 1;
"""
FACT = Change("run1", "s1", "c1", ChangeKind.FACT, "", "advice", b'"buy"', "sha", 1.0, kept=True, change_id=7)
FILE = Change(
    "run1",
    "s2",
    "c2",
    ChangeKind.FILE_WRITTEN,
    "/srv",
    "a/b",
    None,
    "sha",
    2.0,
    0o600,
    "",
    ("a",),
    change_id=8,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "undo.db"
    connection = apsw.Connection(str(path))
    connection.execute(VERSION_1)
    connection.close()
    return path


async def test_a_file_of_version_1_is_upgraded(path: Path) -> None:
    """The changes of a file of the first version, which recorded no sources, are there without one; new ones have theirs."""
    async with SqliteUndoLog(path, MAX_BYTES) as log:
        assert await log.latest(("run1",)) == FILE
        assert await log.latest(("run1",), below=8) == FACT
        await log.record(replace(FACT, call_id="c3", source=FactSource("run0", ("file:/x",))))
    async with SqliteUndoLog(path, MAX_BYTES) as log:
        assert [change.source for change in await log.find("run1", "s1", "c1")] == [None]
        (new,) = await log.find("run1", "s1", "c3")
        assert new.source == FactSource("run0", ("file:/x",))


async def test_an_upgraded_file_has_the_form_of_a_new_one(path: Path, tmp_path: Path) -> None:
    """A file of the first version gets the version and the tables of a new file."""
    forms = []
    for file in (path, tmp_path / "new.db"):
        async with SqliteUndoLog(file, MAX_BYTES):
            pass
        connection = apsw.Connection(str(file))
        columns = list(connection.execute("SELECT name, type FROM pragma_table_info('changes')"))
        forms.append((connection.pragma("user_version"), columns))
        connection.close()
    assert forms[0] == forms[1]
