from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from aeond.capabilities.sessions.sqlite_sessions import SqliteSessions
from aeond.domain.messages import Role
from aeond.domain.sessions import AnsweredQuestion, Session, SessionDigest, SessionMessage
from aeond.errors import StoreError
from tests.support.counting_vfs import counting_vfs
from tests.support.failing_vfs import failing_vfs


async def test_sessions_outlive_the_process(tmp_path: Path) -> None:
    """Sessions, messages, open runs and digests are there after a restart, in one file."""
    digest = SessionDigest(1, 1, "hello", ("never",), (), "- hello")
    async with SqliteSessions(tmp_path / "sessions.db") as sessions:
        await sessions.create(Session("a", "Trip", 1.0, 1.0, labels={"x": "y"}, uid=7), "once")
        await sessions.begin_run("a", "r1", "hello", 2.0, 7)
        await sessions.keep_digest("a", digest)
    async with SqliteSessions(tmp_path / "sessions.db") as sessions:
        assert await sessions.get("a") == Session("a", "Trip", 1.0, 2.0, 1, 1, {"x": "y"}, 7)
        assert await sessions.open_runs() == ["r1"]
        assert await sessions.digest("a") == digest
        assert (await sessions.create(Session("b", uid=7), "once")).session_id == "a"
    assert [path.name for path in tmp_path.iterdir()] == ["sessions.db"]


async def test_a_change_costs_one_sync(tmp_path: Path) -> None:
    """Beginning a run and ending it is synced once each, and reading syncs nothing."""
    with counting_vfs() as (vfs, counts):
        async with SqliteSessions(tmp_path / "sessions.db", vfs=vfs) as sessions:
            await sessions.create(Session("a", uid=7), "")
            await sessions.begin_run("a", "r0", "hello", 1.0, 7)
            counts.clear()
            await sessions.begin_run("a", "r1", "hello", 2.0, 7)
            assert counts.syncs == 1
            await sessions.end_run("r1", "hi", 3.0)
            assert counts.syncs == 2
            await sessions.messages("a")
            await sessions.list_sessions()
            await sessions.end_run("r1", "hi", 3.0)
            assert counts.syncs == 2


async def test_after_a_disk_failure_nothing_is_acknowledged(tmp_path: Path) -> None:
    """An end that the disk failed is refused until the restart, and then happened whole or not at all."""
    with failing_vfs() as (vfs, failing):
        async with SqliteSessions(tmp_path / "sessions.db", vfs=vfs) as sessions:
            await sessions.create(Session("a", uid=7), "")
            await sessions.begin_run("a", "r1", "kept", 1.0, 7)
            failing.counted, failing.done, failing.fail_at = ("sync",), 0, 1
            for _ in range(2):
                with pytest.raises(StoreError) as refused:
                    await sessions.end_run("r1", "answer", 2.0)
                assert refused.value.reason == "SESSIONS_FAILED"
            assert [message.text for message in await sessions.messages("a")] == ["kept"]
    async with SqliteSessions(tmp_path / "sessions.db") as sessions:
        there = [message.text for message in await sessions.messages("a")]
        assert (there, list(await sessions.open_runs("a"))) in [(["kept", "answer"], []), (["kept"], ["r1"])]


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """A store that was not entered refuses instead of making a file."""
    with pytest.raises(StoreError) as refused:
        await SqliteSessions(tmp_path / "sessions.db").get("a")
    assert refused.value.reason == "SESSIONS_CANNOT_OPEN"
    assert list(tmp_path.iterdir()) == []


VERSION_1 = """
    CREATE TABLE sessions (session_id TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL, created_time REAL NOT NULL,
        changed_time REAL NOT NULL, message_count INTEGER NOT NULL, run_count INTEGER NOT NULL, labels TEXT NOT NULL,
        uid INTEGER NOT NULL, request_id TEXT NOT NULL, place TEXT NOT NULL UNIQUE, last_number INTEGER NOT NULL,
        digest TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE messages (session_id TEXT NOT NULL, number INTEGER NOT NULL, run_id TEXT NOT NULL, role TEXT NOT NULL,
        text TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (session_id, number), UNIQUE (run_id, role)
        ) STRICT, WITHOUT ROWID;
    CREATE TABLE open_runs (run_id TEXT NOT NULL PRIMARY KEY, session_id TEXT NOT NULL, number INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
    INSERT INTO sessions VALUES ('a', 'Trip', 1.0, 2.0, 1, 1, '{}', 7, '', 'p', 1, '');
    INSERT INTO messages VALUES ('a', 1, 'r1', 'user', 'hello', 2.0);
    INSERT INTO open_runs VALUES ('r1', 'a', 1);
    PRAGMA application_id = 0x61657365;
    PRAGMA user_version = 1;
"""


async def test_a_file_of_version_1_is_upgraded(tmp_path: Path) -> None:
    """The messages of a file of the first version are read, and its open runs end with questions and answer."""
    connection = apsw.Connection(str(tmp_path / "sessions.db"))
    connection.execute(VERSION_1)
    connection.close()
    async with SqliteSessions(tmp_path / "sessions.db") as sessions:
        await sessions.end_run("r1", "hi", 5.0, (AnsweredQuestion("why?", 3.0, "so", 4.0),))
        assert await sessions.messages("a") == [
            SessionMessage(1, "r1", Role.USER, "hello", 2.0),
            SessionMessage(2, "r1", Role.AGENT, "why?", 3.0, of_question=True),
            SessionMessage(3, "r1", Role.USER, "so", 4.0, of_question=True),
            SessionMessage(4, "r1", Role.AGENT, "hi", 5.0),
        ]
        assert 1_000 < sessions.stored_bytes(7) < 2_000
        await sessions.delete("a")
        assert sessions.stored_bytes(7) == 0


async def test_what_a_user_stores_is_counted(tmp_path: Path) -> None:
    """Sessions, messages and summaries of each user are counted, over a restart and until they are deleted."""
    async with SqliteSessions(tmp_path / "sessions.db") as sessions:
        for session_id, uid in (("a", 1), ("b", 2)):
            await sessions.create(Session(session_id, uid=uid), "")
        sizes = [sessions.stored_bytes(1)]
        assert 512 <= sizes[0] == sessions.stored_bytes(2)
        await sessions.begin_run("a", "r1", "é" * 1_000, 1.0, 1)
        sizes.append(sessions.stored_bytes(1))
        await sessions.end_run("r1", "x" * 3_000, 2.0)
        sizes.append(sessions.stored_bytes(1))
        await sessions.keep_digest("a", SessionDigest(through=1, summary="y" * 4_000))
        sizes.append(sessions.stored_bytes(1))
        grown = [after - before for before, after in pairwise(sizes)]
        assert [size // 1_000 for size in grown] == [2, 3, 4]
        await sessions.begin_run("a", "r2", "z" * 500, 3.0, 1)
        await sessions.forget_run("r2")
        assert sessions.stored_bytes(1) == sizes[-1]
        assert sessions.stored_bytes(2) == sizes[0]
    async with SqliteSessions(tmp_path / "sessions.db") as sessions:
        assert sessions.stored_bytes(1) == sizes[-1]
        await sessions.delete("a")
        assert (sessions.stored_bytes(1), sessions.stored_bytes(2)) == (0, sizes[0])
        assert await sessions.messages("a") == []
