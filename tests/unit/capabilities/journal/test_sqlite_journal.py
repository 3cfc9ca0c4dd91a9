import threading
from pathlib import Path

import anyio
import anyio.to_thread
import apsw
import pytest

from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.capabilities.journal.writer import committer, writer
from aeond.domain.runs.run import RunState
from aeond.errors import AlreadyExistsError, OverloadedError, StoreError
from aeond.ports.journal import RunFilter
from tests.support.counting_vfs import counting_vfs, settled
from tests.support.failing_vfs import Hanging, hanging_vfs
from tests.support.journals import all_events, beginning, ending, journal_in, sqlite_journal, step_turn

__all__ = ["sqlite_journal"]


async def arrived(hanging: Hanging) -> None:
    """Returns once the writer hangs in a sync."""
    with anyio.fail_after(60):
        await anyio.to_thread.run_sync(hanging.arrived.wait, 30)


async def test_events_outlive_the_process(tmp_path: Path) -> None:
    """Appended events are present after a restart, and the database file alone contains all of them."""
    async with journal_in(tmp_path) as journal:
        await journal.append(beginning("r"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["journal.db", "journal.db-reserve"]
    async with journal_in(tmp_path) as journal:
        await journal.append(step_turn("r", 3))
        assert [event.seq for event in await journal.read("r")] == [1, 2, 3, 4]


async def test_an_append_costs_one_sync(tmp_path: Path) -> None:
    """However many events an append has, it is synced once, and reading syncs nothing."""
    with counting_vfs() as (vfs, counts):
        async with journal_in(tmp_path, vfs=vfs) as journal:
            await settled(journal)
            counts.clear()
            await journal.append([event for number in range(50) for event in beginning(f"r{number}")])
            assert counts.syncs == 1
            for seq in range(3, 23, 2):
                await journal.append(step_turn("r1", seq))
            assert counts.syncs == 11
            await all_events(journal, "r1")
            await journal.list_runs()
            await journal.find_request(1, "q")
            assert counts.syncs == 11
            await journal.probe()
            assert counts.syncs == 12


async def test_many_producers_share_their_syncs(tmp_path: Path) -> None:
    """With 64 producers there is less than a tenth of a sync for each event."""
    turns = 20
    with counting_vfs() as (vfs, counts):
        async with journal_in(tmp_path, vfs=vfs) as journal:
            await settled(journal)

            async def produce(run_id: str) -> None:
                await journal.append(beginning(run_id))
                for seq in range(3, 3 + 2 * turns, 2):
                    await journal.append(step_turn(run_id, seq))

            counts.clear()
            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    for number in range(64):
                        group.start_soon(produce, f"r{number}")
            assert counts.syncs < 0.1 * 64 * (2 + 2 * turns)


async def test_no_reader_sees_what_is_not_on_disk(tmp_path: Path) -> None:
    """While a commit waits for the disk, readers get the events before it, and at once."""
    with hanging_vfs() as (vfs, hanging):
        async with journal_in(tmp_path, vfs=vfs) as journal, anyio.create_task_group() as group:
            await settled(journal)
            await journal.append(beginning("r"))
            hanging.hangs = True
            group.start_soon(journal.append, step_turn("r", 3))
            await arrived(hanging)
            with anyio.fail_after(60):
                assert [event.seq for event in await journal.read("r")] == [1, 2]
                summary = await journal.summary("r")
            assert summary is not None
            assert summary.last_seq == 2
            hanging.hangs = False
            hanging.released.set()
        # Both contexts have ended: the append has returned.


async def test_a_cancelled_append_is_waited_for(tmp_path: Path) -> None:
    """A caller that is cancelled while the disk works leaves with its events written, not in doubt."""
    with hanging_vfs() as (vfs, hanging):
        async with journal_in(tmp_path, vfs=vfs) as journal:
            await settled(journal)
            await journal.append(beginning("r"))
            hanging.hangs = True
            returned = False
            async with anyio.create_task_group() as group:

                async def append() -> None:
                    nonlocal returned
                    await journal.append(step_turn("r", 3))
                    returned = True

                group.start_soon(append)
                await arrived(hanging)
                group.cancel_scope.cancel()
                hanging.hangs = False
                hanging.released.set()
            assert returned
            assert len(await journal.read("r")) == 4


async def test_a_probe_can_be_given_up(tmp_path: Path) -> None:
    """A probe of a hanging disk can be cancelled, and the journal continues when the disk does."""
    with hanging_vfs() as (vfs, hanging):
        async with journal_in(tmp_path, vfs=vfs) as journal:
            await settled(journal)
            hanging.hangs = True
            with anyio.move_on_after(0.05) as given_up:
                await journal.probe()
            assert given_up.cancelled_caught
            hanging.hangs = False
            hanging.released.set()
            await journal.append(beginning("r"))


async def test_a_reserve_that_cannot_be_made_refuses_the_start(tmp_path: Path) -> None:
    """When the room for a full disk cannot be kept, for another reason than a full disk, the start says so."""
    (tmp_path / "journal.db-reserve").mkdir()
    with anyio.fail_after(60), pytest.raises(StoreError) as refused:
        async with journal_in(tmp_path):
            pytest.fail("it opened")
    assert refused.value.reason == "JOURNAL_FAILED"


async def test_the_queue_of_appends_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When too many appends or bytes are queued, the next run is rejected with a retry delay, but not an event of one that works."""
    monkeypatch.setattr(writer, "MAX_WAITING", 4)
    monkeypatch.setattr(writer, "MAX_WAITING_BYTES", 100_000)
    with hanging_vfs() as (vfs, hanging):
        async with journal_in(tmp_path, vfs=vfs) as journal, anyio.create_task_group() as group:
            await settled(journal)
            await journal.append(beginning("works"))
            hanging.hangs = True
            group.start_soon(journal.append, beginning("a"))
            await arrived(hanging)
            with pytest.raises(OverloadedError) as by_bytes:
                await journal.append(beginning("b", "x" * 100_000))
            for run_id in ("c", "d", "e"):
                group.start_soon(journal.append, beginning(run_id))
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(OverloadedError) as by_number:
                await journal.append(beginning("f"))
            assert {by_bytes.value.reason, by_number.value.reason} == {"JOURNAL_OVERLOADED"}
            assert by_number.value.retry_after_seconds > 0
            group.start_soon(journal.append, [ending("works", 3)])
            await anyio.wait_all_tasks_blocked()
            hanging.hangs = False
            hanging.released.set()
        # All that was accepted has been written.
    async with journal_in(tmp_path) as journal:
        runs = await journal.list_runs()
        assert [line.run_id for line in runs] == ["works", "e", "d", "c", "a"]
        assert runs[0].state is RunState.SUCCEEDED


async def test_a_disk_that_hangs_fails_the_journal(tmp_path: Path) -> None:
    """When the disk does not answer in time the journal has failed, and stays so when it answers after all."""
    with hanging_vfs() as (vfs, hanging), anyio.fail_after(60):
        async with journal_in(tmp_path, vfs=vfs) as journal:
            await settled(journal)
            hanging.hangs = True
            journal._writer._deadline_seconds = 0.2
            with pytest.raises(StoreError) as first:
                await journal.append(beginning("r"))
            hanging.hangs = False
            hanging.released.set()
            with pytest.raises(StoreError) as second:
                await journal.probe()
            assert (first.value.reason, second.value.reason) == ("JOURNAL_FAILED", "JOURNAL_FAILED")


async def test_a_read_has_a_deadline(sqlite_journal: SqliteJournal) -> None:
    """A read that gets no answer in time says so, and may be tried again."""
    await sqlite_journal.append(beginning("r"))
    sqlite_journal._readers._deadline_seconds = 0
    with pytest.raises(StoreError) as refused:
        await sqlite_journal.read("r")
    assert (refused.value.reason, refused.value.retryable) == ("JOURNAL_STUCK", True)
    sqlite_journal._readers._deadline_seconds = 30
    assert len(await sqlite_journal.read("r")) == 2


async def test_a_journal_that_was_left_is_closed(tmp_path: Path) -> None:
    """After it was left, a journal writes and reads nothing, and its thread has ended."""
    async with journal_in(tmp_path) as journal:
        await journal.append(beginning("r"))
    for attempt in (journal.append(step_turn("r", 3)), journal.read("r"), journal.probe()):
        with pytest.raises(StoreError) as refused:
            await attempt
        assert refused.value.reason == "JOURNAL_FAILED"
    assert "journal-writer" not in {thread.name for thread in threading.enumerate()}


async def test_closing_waits_for_queued_appends(tmp_path: Path) -> None:
    """Leaving a journal waits for the appends that were handed over before."""
    async with anyio.create_task_group() as group, journal_in(tmp_path) as journal:
        for number in range(100):
            group.start_soon(journal.append, beginning(f"r{number:02}"))
        await anyio.wait_all_tasks_blocked()
    async with journal_in(tmp_path) as journal:
        assert len(await journal.list_runs(RunFilter(limit=500))) == 100


async def test_no_sql_changes_an_event(sqlite_journal: SqliteJournal, tmp_path: Path) -> None:
    """The file itself refuses to change an event, or to delete one whose run is there."""
    await sqlite_journal.append(beginning("r"))
    connection = apsw.Connection(str(tmp_path / "journal.db"))
    for sql in ("UPDATE events SET body = '{}'", "UPDATE events SET seq = seq + 1", "DELETE FROM events"):
        with pytest.raises(apsw.ConstraintError):
            connection.execute(sql)
    connection.close()
    assert list(await sqlite_journal.read("r")) == beginning("r")


async def test_another_program_that_writes_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another program holds the file, appends end as busy and nothing is lost; then they work again."""
    monkeypatch.setattr("aeond.capabilities.sqlite_file.BUSY_MILLISECONDS", 20)
    async with journal_in(tmp_path) as journal:
        await settled(journal)
        other = apsw.Connection(str(tmp_path / "journal.db"))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as refused:
            await journal.append(beginning("r"))
        assert (refused.value.reason, refused.value.retryable) == ("JOURNAL_BUSY", True)
        other.execute("ROLLBACK")
        other.close()
        await journal.append(beginning("r"))


async def test_damage_found_while_reading_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is damaged in a file too large to check at the start is an error of the read, not of more."""
    async with journal_in(tmp_path) as journal:
        await journal.append(beginning("good"))
        await journal.append(beginning("r"))
        for seq in range(3, 103, 2):
            await journal.append(step_turn("r", seq, "x" * 3_000))
    monkeypatch.setattr("aeond.capabilities.sqlite_file.CHECKED_BYTES", 0)
    path = tmp_path / "journal.db"
    content = bytearray(path.read_bytes())
    place = content.index(b"s77")  # in a page with an event in the middle of the run
    content[place // 4096 * 4096 : place // 4096 * 4096 + 8] = b"\xa5" * 8
    path.write_bytes(content)
    async with journal_in(tmp_path) as journal:
        with pytest.raises(StoreError) as refused:
            await all_events(journal, "r")
        assert refused.value.reason == "JOURNAL_CORRUPT"
        assert len(await journal.read("good")) == 2


async def test_a_quiet_moment_is_used_for_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the writer is idle for a short time, the log is checkpointed."""
    monkeypatch.setattr(committer, "SHORT_LOG_BYTES", 1)
    monkeypatch.setattr(writer, "QUIET_SECONDS", 0.01)
    async with journal_in(tmp_path) as journal:
        await journal.append(beginning("r"))
        alone = (tmp_path / "journal.db").absolute().as_uri() + "?immutable=1"
        with anyio.fail_after(60):
            while True:
                connection = apsw.Connection(alone, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
                events = connection.execute("SELECT count(*) FROM events").get
                connection.close()
                if events == 2:
                    break
                await anyio.lowlevel.checkpoint()


async def test_the_log_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much is appended without a pause, the log stays about as long as its bound."""
    monkeypatch.setattr(committer, "LONG_LOG_BYTES", 256 << 10)
    async with journal_in(tmp_path) as journal:
        await journal.append(beginning("r"))
        for seq in range(3, 403, 2):
            await journal.append(step_turn("r", seq, "x" * 5_000))
            await journal.read("r", seq)
        assert (tmp_path / "journal.db-wal").stat().st_size < 1 << 20
        assert (tmp_path / "journal.db").stat().st_size > 1 << 20


async def test_old_runs_are_pruned_whole(sqlite_journal: SqliteJournal, tmp_path: Path) -> None:
    """Pruning deletes runs that ended before a time, with their request ids; younger and unfinished runs
    stay.
    """
    for number in range(100):
        run_id = f"r{number:03}"
        await sqlite_journal.append(beginning(run_id, request_id=run_id, time=number))
        if number % 2 == 0:
            await sqlite_journal.append([ending(run_id, 3, RunState.FAILED, time=number + 0.5)])
    assert await sqlite_journal.prune(80.0) == 40
    assert await sqlite_journal.prune(80.0) == 0
    left = [line.run_id for line in await sqlite_journal.list_runs(RunFilter(limit=500))]
    assert left == [f"r{n:03}" for n in reversed(range(100)) if n % 2 == 1 or n >= 80]
    assert list(await sqlite_journal.read("r000")) == []
    assert await sqlite_journal.find_request(1000, "r000") is None
    assert len(await sqlite_journal.read("r001")) == 2
    await sqlite_journal.append(beginning("r000", request_id="r000"))


async def test_a_second_journal_waits_for_none_of_this_one_s_readers(tmp_path: Path) -> None:
    """Many readers at once each get their page while the writer goes on."""
    async with journal_in(tmp_path) as journal:
        await journal.append(beginning("r"))

        async def read_on() -> None:
            seq = 0
            while seq < 202:
                for event in await journal.read("r", seq):
                    assert event.seq == seq + 1
                    seq = event.seq

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(read_on)
                for seq in range(3, 203, 2):
                    await journal.append(step_turn("r", seq))


async def test_a_journal_of_version_1_keeps_its_runs_and_their_users(tmp_path: Path) -> None:
    """A file from before users were kept apart is upgraded once: each run belongs to the user that it recorded, and its size is
    counted."""
    async with journal_in(tmp_path) as journal:
        for run_id, uid in (("a", 1000), ("b", 5), ("c", -1)):
            await journal.append(beginning(run_id, uid=uid))
        stored = journal.stored_bytes(1000)
    old = apsw.Connection(str(tmp_path / "journal.db"))
    old.execute("DROP INDEX runs_by_user; ALTER TABLE runs DROP COLUMN bytes; PRAGMA user_version = 1;")
    old.close()
    for _ in range(2):
        async with journal_in(tmp_path) as journal:
            assert journal.stored_bytes(1000) == stored
            for run_id, uid in (("a", 1000), ("b", 5), ("c", -1)):
                assert [line.run_id for line in await journal.list_runs(RunFilter(uid=uid))] == [run_id]
                assert len(await journal.read(run_id)) == 2
    upgraded = apsw.Connection(str(tmp_path / "journal.db"))
    plan = "EXPLAIN QUERY PLAN SELECT * FROM runs WHERE uid = 1 AND state = 'running' ORDER BY run_id DESC"
    steps = str(upgraded.execute(plan).fetchall())
    upgraded.close()
    assert "runs_by_user" in steps
    assert "TEMP B-TREE" not in steps


async def test_what_a_user_stores_is_counted(tmp_path: Path) -> None:
    """The stored bytes of a user's runs grow with every event by its size in bytes, also if one append has events of several
    users; it is the same after a restart, and goes with the runs.
    """
    async with journal_in(tmp_path) as journal:
        await journal.append([*beginning("a", uid=1), *beginning("b", uid=2)])
        first = journal.stored_bytes(1)
        assert 1_000 < first == journal.stored_bytes(2)
        await journal.append([*step_turn("a", 3, "é" * 50_000), *step_turn("b", 3)])
        await journal.append([ending("a", 5)])
        assert 100_000 < journal.stored_bytes(1) - first < 102_000
        assert journal.stored_bytes(2) - first < 2_000
        with pytest.raises(AlreadyExistsError):
            await journal.append(step_turn("a", 3))
        stored = [journal.stored_bytes(uid) for uid in (1, 2, 3)]
    async with journal_in(tmp_path) as journal:
        assert [journal.stored_bytes(uid) for uid in (1, 2, 3)] == stored
        assert await journal.remove(["a", "missing"]) == 1
        assert [journal.stored_bytes(uid) for uid in (1, 2)] == [0, stored[1]]
    async with journal_in(tmp_path) as journal:
        assert [journal.stored_bytes(uid) for uid in (1, 2)] == [0, stored[1]]
        assert await journal.summary("a") is None
        assert await journal.prune(1e12) == 0
        await journal.append([ending("b", 5)])
        assert await journal.prune(1e12) == 1
        assert journal.stored_bytes(2) == 0
