"""Queries of the journal: each reads one short page."""

from collections.abc import Sequence

import apsw

from aeond.capabilities.journal.encoding import StoredEvent, decode
from aeond.capabilities.journal.projection import PAGE_BYTES, RunLine
from aeond.capabilities.sqlite_readers import page_of
from aeond.domain.plans.open_questions import MAY_BE_OPEN, NONE_OPEN, TELLING, OpenQuestions, open_after
from aeond.domain.runs.run import RunState
from aeond.ports.journal import RunFilter

_EVENT_COLUMNS = "run_id, seq, time, elapsed_seconds, kind, version, body"
# Parents and children of a run are read from its events: no column duplicates them.
_STARTED_BY = (
    "run_id IN (SELECT body ->> '$.child.child_run_id' FROM events "
    "WHERE run_id = ? AND kind = 'child_run_started')"
)
_PARENT = (
    "(SELECT coalesce(body ->> '$.ancestry.parent_run_id', '') FROM events "
    "WHERE events.run_id = runs.run_id AND seq = 1)"
)
_RUN_COLUMNS = ", ".join([*RunLine._fields[:-1], _PARENT])


def read_page(cursor: apsw.Cursor, run_id: str, after_seq: int, limit: int) -> list[StoredEvent]:
    """Events after `after_seq`: at most `limit`, and none after PAGE_BYTES are read."""
    rows = cursor.execute(
        f"SELECT {_EVENT_COLUMNS} FROM events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",  # noqa: S608 - our own column names
        (run_id, after_seq, limit),
    )
    return page_of(map(StoredEvent._make, rows), lambda stored: len(stored.body), PAGE_BYTES)


def read_run(cursor: apsw.Cursor, run_id: str) -> list[RunLine]:
    """The run's list entry, if the run exists."""
    return _lines(cursor, "run_id = ?", (run_id,), 1)


def read_open_questions(cursor: apsw.Cursor, run_id: str, state: RunState) -> OpenQuestions:
    if state not in MAY_BE_OPEN:
        return NONE_OPEN
    rows = cursor.execute(
        f"SELECT {_EVENT_COLUMNS} FROM events WHERE run_id = ? AND kind IN ({', '.join('?' * len(TELLING))}) "  # noqa: S608 - our own column names, and question marks
        "ORDER BY seq",
        (run_id, *TELLING),
    )
    return open_after(NONE_OPEN, [decode(StoredEvent._make(row)).kind for row in rows])


def read_runs(cursor: apsw.Cursor, wanted: RunFilter) -> list[RunLine]:
    """Runs, newest first."""
    conditions = {
        "uid = ?": wanted.uid,
        "run_id < ?": wanted.before or None,
        "session_id = ? AND session_id <> ''": wanted.session_id or None,
        _STARTED_BY: wanted.parent_run_id or None,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where, values = " AND ".join(["1", *given]), [*given.values()]
    if not wanted.states and wanted.uid is None:
        return _lines(cursor, where, values, wanted.limit)
    # In the indexes each state's runs are sorted: neither all runs nor all runs of a user are ever sorted.
    lines = [
        line
        for state in wanted.states or RunState
        for line in _lines(cursor, f"{where} AND state = ?", [*values, state], wanted.limit)
    ]
    return sorted(lines, key=lambda line: line.run_id, reverse=True)[: wanted.limit]


def count_runs(cursor: apsw.Cursor) -> dict[RunState, int]:
    """The number of runs in each state, from an index alone."""
    rows = cursor.execute("SELECT state, count(*) FROM runs GROUP BY state")
    return {RunState(state): count for state, count in rows}


def read_ended_runs(cursor: apsw.Cursor, before_time: float, limit: int) -> tuple[str, ...]:
    """Runs that ended before a time, oldest first."""
    ended = [str(state) for state in RunState if state.ended]
    return tuple(
        row[0]
        for row in cursor.execute(
            f"SELECT run_id FROM runs WHERE state IN ({', '.join('?' * len(ended))}) AND changed_time < ? "  # noqa: S608 - question marks only
            "ORDER BY run_id LIMIT ?",
            (*ended, before_time, limit),
        )
    )


def _lines(cursor: apsw.Cursor, where: str, values: Sequence[str | int], limit: int) -> list[RunLine]:
    rows = cursor.execute(
        f"SELECT {_RUN_COLUMNS} FROM runs WHERE {where} ORDER BY run_id DESC LIMIT ?",  # noqa: S608 - our own words
        (*values, limit),
    )
    return [RunLine._make((row[0], RunState(row[1]), *row[2:])) for row in rows]
