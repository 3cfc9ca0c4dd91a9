"""The schema of a journal file.

`events` is append-only: triggers reject SQL that changes an event, and an event can be deleted only after its
run has been deleted from `runs`, which only retention does. `runs` has one row per run, written in the
transaction of the events that it summarises, so that lists need no folding. Version 2 finds the runs of one user
without reading those of others; version 3 has the stored size of each run, so that nothing is read to know what a
user stores. `probes` and `room` carry no
information: one gives a probe something to commit, the other extends the log to its full size.
"""

from typing import Final

import apsw

from aeond.capabilities.sqlite_file import FileFormat

_RUNS_BY_USER: Final = "CREATE INDEX runs_by_user ON runs (uid, state);"

# What a row takes besides its text: keys, numbers and indexes.
EVENT_BYTES: Final = 128
RUN_BYTES: Final = 512

_STORED_BYTES: Final = "ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;"


def _count_bytes(connection: apsw.Connection) -> None:
    connection.execute(_STORED_BYTES)
    connection.execute(
        "UPDATE runs SET bytes = ? + (SELECT coalesce(sum(octet_length(body) + ?), 0) FROM events "
        "WHERE events.run_id = runs.run_id)",
        (RUN_BYTES, EVENT_BYTES),
    )


_TABLES: Final = """
    CREATE TABLE events (
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL CHECK (seq > 0),
        time REAL NOT NULL,
        elapsed_seconds REAL NOT NULL,
        kind TEXT NOT NULL,
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (run_id, seq)
    ) STRICT;

    CREATE TABLE runs (
        run_id TEXT NOT NULL PRIMARY KEY,
        state TEXT NOT NULL,
        text TEXT NOT NULL,
        created_time REAL NOT NULL,
        changed_time REAL NOT NULL,
        last_seq INTEGER NOT NULL,
        uid INTEGER NOT NULL,
        session_id TEXT NOT NULL,
        request_id TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX runs_by_request ON runs (uid, request_id) WHERE request_id <> '';
    CREATE INDEX runs_by_state ON runs (state);
    CREATE INDEX runs_by_session ON runs (session_id) WHERE session_id <> '';

    CREATE TABLE probes (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        count INTEGER NOT NULL
    ) STRICT;
    INSERT INTO probes VALUES (1, 0);

    CREATE TABLE room (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        content BLOB NOT NULL
    ) STRICT;
    INSERT INTO room VALUES (1, x'');

    CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;
    CREATE TRIGGER events_go_with_their_run BEFORE DELETE ON events
        WHEN EXISTS (SELECT 1 FROM runs WHERE run_id = OLD.run_id)
        BEGIN SELECT RAISE(ABORT, 'an event is deleted only with its run'); END;
"""

JOURNAL = FileFormat(
    name="journal",
    application_id=0x61656A6C,  # "aejl"
    version=3,
    upgrades=(_RUNS_BY_USER, _count_bytes),
    schema=_TABLES + _RUNS_BY_USER + _STORED_BYTES,
)
