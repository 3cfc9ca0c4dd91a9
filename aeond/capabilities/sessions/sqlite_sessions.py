"""Sessions on disk."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

import apsw

from aeond.capabilities.sessions.rules import (
    PAGE_BYTES,
    decode_digest,
    encode_digest,
    page_limit,
    session_busy,
    session_not_found,
    title_of,
)
from aeond.capabilities.sqlite_access import SqliteAccess
from aeond.capabilities.sqlite_file import FileFormat
from aeond.capabilities.sqlite_readers import page_of
from aeond.domain.messages import Role
from aeond.domain.sessions import AnsweredQuestion, Session, SessionDigest, SessionMessage

_MESSAGES: Final = """
    CREATE TABLE messages (
        session_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        run_id TEXT NOT NULL,
        role TEXT NOT NULL,
        text TEXT NOT NULL,
        time REAL NOT NULL,
        of_question INTEGER NOT NULL,
        PRIMARY KEY (session_id, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX messages_by_run ON messages (run_id);
"""

# Version 2: a run has more messages than its request and its answer.
_ADD_QUESTIONS: Final = f"""
    ALTER TABLE messages RENAME TO messages_1;
    {_MESSAGES}
    INSERT INTO messages SELECT session_id, number, run_id, role, text, time, 0 FROM messages_1;
    DROP TABLE messages_1;
"""  # noqa: S608 - our own names
# Version 3: the sessions of one user are listed without reading those of others.
_SESSIONS_BY_USER: Final = "CREATE INDEX sessions_by_user ON sessions (uid, place);"
# Version 4: the size of what each user keeps.
_SESSION_BYTES: Final = "512 + octet_length({0}.title) + octet_length({0}.labels) + octet_length({0}.digest)"
_MESSAGE_BYTES: Final = "128 + octet_length({0}.text)"
_USER: Final = "(SELECT uid FROM sessions WHERE session_id = {0}.session_id)"
_USAGE: Final = f"""
    CREATE TABLE usage (
        uid INTEGER PRIMARY KEY,
        bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO usage SELECT uid, sum(
        {_SESSION_BYTES.format("sessions")}
        + (SELECT coalesce(sum({_MESSAGE_BYTES.format("messages")}), 0) FROM messages
            WHERE messages.session_id = sessions.session_id)
    ) FROM sessions GROUP BY uid;
    CREATE TRIGGER session_was_made AFTER INSERT ON sessions BEGIN
        INSERT INTO usage VALUES (NEW.uid, {_SESSION_BYTES.format("NEW")})
            ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
    END;
    CREATE TRIGGER session_was_changed AFTER UPDATE OF title, digest ON sessions BEGIN
        UPDATE usage SET bytes = bytes + ({_SESSION_BYTES.format("NEW")}) - ({_SESSION_BYTES.format("OLD")})
            WHERE uid = NEW.uid;
    END;
    CREATE TRIGGER session_was_removed BEFORE DELETE ON sessions BEGIN
        UPDATE usage SET bytes = bytes - ({_SESSION_BYTES.format("OLD")}) WHERE uid = OLD.uid;
        DELETE FROM messages WHERE session_id = OLD.session_id;
    END;
    CREATE TRIGGER message_was_made AFTER INSERT ON messages BEGIN
        UPDATE usage SET bytes = bytes + {_MESSAGE_BYTES.format("NEW")} WHERE uid = {_USER.format("NEW")};
    END;
    CREATE TRIGGER message_was_removed AFTER DELETE ON messages BEGIN
        UPDATE usage SET bytes = bytes - ({_MESSAGE_BYTES.format("OLD")}) WHERE uid = {_USER.format("OLD")};
    END;
"""  # noqa: S608 - our own names

# `place` is Session.place: an index on it sorts lists, so the list of all sessions is never sorted.
SESSIONS = FileFormat(
    name="sessions",
    application_id=0x61657365,  # "aese"
    version=4,
    upgrades=(_ADD_QUESTIONS, _SESSIONS_BY_USER, _USAGE),
    schema="""
    CREATE TABLE sessions (
        session_id TEXT NOT NULL PRIMARY KEY,
        title TEXT NOT NULL,
        created_time REAL NOT NULL,
        changed_time REAL NOT NULL,
        message_count INTEGER NOT NULL,
        run_count INTEGER NOT NULL,
        labels TEXT NOT NULL,
        uid INTEGER NOT NULL,
        request_id TEXT NOT NULL,
        place TEXT NOT NULL UNIQUE,
        last_number INTEGER NOT NULL,
        digest TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX sessions_by_request ON sessions (uid, request_id) WHERE request_id <> '';

    CREATE TABLE open_runs (
        run_id TEXT NOT NULL PRIMARY KEY,
        session_id TEXT NOT NULL,
        number INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX open_runs_by_session ON open_runs (session_id, number);
    """
    + _MESSAGES
    + _SESSIONS_BY_USER
    + _USAGE,
)

_COLUMNS = "session_id, title, created_time, changed_time, message_count, run_count, labels, uid"


class SqliteSessions:
    """A SessionStore in one SQLite file at `path`, created if needed; its folder must exist.

    Enter it before use. StoreError as for SqliteAccess, with SESSIONS_ in its reasons.
    """

    def __init__(self, path: Path, *, deadline_seconds: float = 30.0, vfs: str | None = None) -> None:
        self._file = SqliteAccess(path, SESSIONS, deadline_seconds=deadline_seconds, vfs=vfs)
        self._stored: dict[int, int] = {}  # bytes by uid

    async def __aenter__(self) -> Self:
        await self._file.open()
        self._stored.update(
            await self._file.read(lambda cursor: dict(cursor.execute("SELECT uid, bytes FROM usage")))
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._file.close()

    def stored_bytes(self, uid: int) -> int:
        """What the sessions of this user take, about; known without reading anything."""
        return self._stored.get(uid, 0)

    async def create(self, session: Session, request_id: str) -> Session:
        def create(cursor: apsw.Cursor) -> Session:
            if request_id:
                earlier = _find(cursor, "uid = ? AND request_id = ?", (session.uid, request_id))
                if earlier is not None:
                    return earlier
            cursor.execute(
                f"INSERT INTO sessions ({_COLUMNS}, request_id, place, last_number, digest) "  # noqa: S608 - our own names
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '')",
                (
                    session.session_id,
                    session.title,
                    session.created_time,
                    session.changed_time,
                    session.message_count,
                    session.run_count,
                    json.dumps(dict(session.labels)),
                    session.uid,
                    request_id,
                    session.place,
                ),
            )
            self._count(cursor, session.uid)
            return session

        return await self._file.change(create)

    async def get(self, session_id: str) -> Session | None:
        return await self._file.read(lambda cursor: _find(cursor, "session_id = ?", (session_id,)))

    async def list_sessions(
        self, before: str = "", limit: int = 50, uid: int | None = None
    ) -> Sequence[Session]:
        """See ports; at most 501 at once."""
        conditions = {"place < ?": before or None, "uid = ?": uid}
        given = {condition: value for condition, value in conditions.items() if value is not None}
        where = " AND ".join(["1", *given])

        def find(cursor: apsw.Cursor) -> list[Session]:
            rows = cursor.execute(
                f"SELECT {_COLUMNS} FROM sessions WHERE {where} ORDER BY place DESC LIMIT ?",  # noqa: S608 - our own names
                (*given.values(), page_limit(limit)),
            )
            return [_session(row) for row in rows]

        return await self._file.read(find)

    async def delete(self, session_id: str) -> None:
        def delete(cursor: apsw.Cursor) -> None:
            if cursor.execute("SELECT 1 FROM open_runs WHERE session_id = ? LIMIT 1", (session_id,)).get:
                raise session_busy(session_id)
            uid = _user_of(cursor, session_id)
            if uid is None:
                raise session_not_found(session_id)
            cursor.execute("DELETE FROM sessions WHERE session_id = ?", (session_id,))
            self._count(cursor, uid)

        await self._file.change(delete)

    async def begin_run(self, session_id: str, run_id: str, text: str, time: float, uid: int) -> None:
        def begin(cursor: apsw.Cursor) -> None:
            if cursor.execute("SELECT 1 FROM messages WHERE run_id = ?", (run_id,)).get:
                return
            if _user_of(cursor, session_id) != uid:
                raise session_not_found(session_id)
            number = _say(cursor, session_id, run_id, Role.USER, text, time)
            cursor.execute("INSERT INTO open_runs VALUES (?, ?, ?)", (run_id, session_id, number))
            cursor.execute(
                "UPDATE sessions SET run_count = run_count + 1, "
                "title = CASE title WHEN '' THEN ? ELSE title END WHERE session_id = ?",
                (title_of(text), session_id),
            )
            self._count(cursor, uid)

        await self._file.change(begin)

    async def end_run(
        self, run_id: str, answer: str | None, time: float, asked: Sequence[AnsweredQuestion] = ()
    ) -> None:
        def end(cursor: apsw.Cursor) -> None:
            session_id = _close(cursor, run_id)
            if session_id is None:
                return
            for one in asked:
                _say(cursor, session_id, run_id, Role.AGENT, one.question, one.asked_time, of_question=True)
                _say(cursor, session_id, run_id, Role.USER, one.answer, one.answered_time, of_question=True)
            if answer is not None:
                _say(cursor, session_id, run_id, Role.AGENT, answer, time)
            self._count(cursor, _user_of(cursor, session_id))

        await self._file.change(end)

    async def forget_run(self, run_id: str) -> None:
        def forget(cursor: apsw.Cursor) -> None:
            session_id = _close(cursor, run_id)
            if session_id is not None:
                cursor.execute("DELETE FROM messages WHERE run_id = ?", (run_id,))
                cursor.execute(
                    "UPDATE sessions SET run_count = run_count - 1, message_count = message_count - 1 "
                    "WHERE session_id = ?",
                    (session_id,),
                )
                self._count(cursor, _user_of(cursor, session_id))

        await self._file.change(forget)

    async def open_runs(self, session_id: str = "") -> Sequence[str]:
        def find(cursor: apsw.Cursor) -> list[str]:
            where, values = ("session_id = ?", (session_id,)) if session_id else ("1", ())
            rows = cursor.execute(
                f"SELECT run_id FROM open_runs WHERE {where} ORDER BY session_id, number",  # noqa: S608 - our own names
                values,
            )
            return [row[0] for row in rows]

        return await self._file.read(find)

    async def messages(self, session_id: str, after: int = 0, limit: int = 256) -> Sequence[SessionMessage]:
        def read(cursor: apsw.Cursor) -> list[SessionMessage]:
            rows = cursor.execute(
                "SELECT number, run_id, role, text, time, of_question FROM messages "
                "WHERE session_id = ? AND number > ? ORDER BY number LIMIT ?",
                (session_id, after, page_limit(limit)),
            )
            messages = (
                SessionMessage(number, run_id, Role(role), text, time, bool(of_question))
                for number, run_id, role, text, time, of_question in rows
            )
            return page_of(messages, lambda message: len(message.text), PAGE_BYTES)

        return await self._file.read(read)

    async def digest(self, session_id: str) -> SessionDigest:
        return decode_digest(await self._file.read(lambda cursor: _digest(cursor, session_id)))

    async def keep_digest(self, session_id: str, digest: SessionDigest) -> None:
        def keep(cursor: apsw.Cursor) -> None:
            text = _digest(cursor, session_id)
            if text is not None and decode_digest(text).through <= digest.through:
                cursor.execute(
                    "UPDATE sessions SET digest = ? WHERE session_id = ?",
                    (encode_digest(digest), session_id),
                )
                self._count(cursor, _user_of(cursor, session_id))

        await self._file.change(keep)

    def _count(self, cursor: apsw.Cursor, uid: int | None) -> None:
        if uid is not None:
            self._stored[uid] = cursor.execute("SELECT bytes FROM usage WHERE uid = ?", (uid,)).get


def _find(cursor: apsw.Cursor, where: str, values: tuple[object, ...]) -> Session | None:
    row: Any = cursor.execute(f"SELECT {_COLUMNS} FROM sessions WHERE {where}", values).fetchone()  # noqa: S608 - our own names
    return None if row is None else _session(row)


def _digest(cursor: apsw.Cursor, session_id: str) -> str | None:
    """The digest of a session as it is stored; None if there is no such session."""
    text: str | None = cursor.execute("SELECT digest FROM sessions WHERE session_id = ?", (session_id,)).get
    return text


def _user_of(cursor: apsw.Cursor, session_id: str) -> int | None:
    """The user of a session; None if there is no such session."""
    uid: int | None = cursor.execute("SELECT uid FROM sessions WHERE session_id = ?", (session_id,)).get
    return uid


def _session(row: Any) -> Session:
    session_id, title, created, changed, messages, runs, labels, uid = row
    return Session(session_id, title, created, changed, messages, runs, json.loads(labels), uid)


def _say(
    cursor: apsw.Cursor,
    session_id: str,
    run_id: str,
    role: Role,
    text: str,
    time: float,
    *,
    of_question: bool = False,
) -> int:
    """Adds a message and updates the session's sort key."""
    row: Any = cursor.execute(
        "SELECT last_number, changed_time FROM sessions WHERE session_id = ?", (session_id,)
    ).fetchone()
    if row is None:
        raise session_not_found(session_id)
    number, changed = row[0] + 1, max(row[1], time)
    cursor.execute(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session_id, number, run_id, str(role), text, time, of_question),
    )
    cursor.execute(
        "UPDATE sessions SET last_number = ?, message_count = message_count + 1, changed_time = ?, place = ? "
        "WHERE session_id = ?",
        (number, changed, Session(session_id, changed_time=changed).place, session_id),
    )
    return int(number)


def _close(cursor: apsw.Cursor, run_id: str) -> str | None:
    """Closes an open run and returns its session."""
    session_id: str | None
    session_id = cursor.execute("DELETE FROM open_runs WHERE run_id = ? RETURNING session_id", (run_id,)).get
    return session_id
