from pathlib import Path

import apsw
import pytest

from aeond.capabilities.journal.writer.changes import Probe, Prune
from aeond.capabilities.journal.writer.committer import Answer, Committer
from aeond.capabilities.journal.writer.reserve import Reserve
from aeond.errors import AeondError, StoreError
from tests.support.failing_vfs import DiskError, failing_vfs
from tests.support.journals import append_of, beginning, ending, step_turn
from tests.support.watched_vfs import Watcher, watched_vfs


def opened(folder: Path, vfs: str | None = None) -> Committer:
    committer = Committer(folder / "journal.db", Reserve(folder / "reserve", 4096), vfs)
    committer.open()
    return committer


def results_of(answers: list[Answer]) -> list[int | str]:
    return [answer.reason if isinstance(answer, AeondError) else answer for answer in answers]


def stored(folder: Path) -> list[object]:
    """The run id and seq of every event in the file."""
    connection = apsw.Connection(str(folder / "journal.db"))
    rows = connection.execute("SELECT run_id, seq FROM events ORDER BY run_id, seq").fetchall()
    connection.close()
    return list(rows)


def test_a_group_is_answered_one_by_one(tmp_path: Path) -> None:
    """In one transaction each change is checked after those before it, and a refused one leaves no trace."""
    committer = opened(tmp_path)
    answers = committer.commit(
        [
            append_of(*beginning("a", request_id="q")),
            append_of(*step_turn("a", 3)),
            append_of(*beginning("b", request_id="q")),
            append_of(*step_turn("a", 3), *beginning("c")),
            append_of(*step_turn("a", 7)),
            Probe(),
            append_of(ending("a", 5)),
            Prune(("a",)),
        ]
    )
    assert results_of(answers) == [2, 2, "REQUEST_ID_TAKEN", "SEQ_TAKEN", "SEQ_GAP", 0, 1, 1]
    committer.close()
    assert stored(tmp_path) == []


class LastWriteThenError(Watcher):
    """A disk that writes and syncs the commit, and then says that it failed."""

    def __init__(self) -> None:
        self.lies = 0

    def sync(self, path: str) -> None:
        if self.lies and path.endswith("-wal"):
            self.lies -= 1
            raise DiskError(apsw.SQLITE_IOERR)


def test_a_commit_that_is_there_after_all_is_acknowledged_once(tmp_path: Path) -> None:
    """When the disk reports an error for a commit that it has, the events are found and not written again."""
    watcher = LastWriteThenError()
    with watched_vfs(watcher) as vfs:
        committer = opened(tmp_path, vfs)
        assert committer.commit([append_of(*beginning("a"))]) == [2]
        watcher.lies = 1
        answers = committer.commit([append_of(*beginning("b")), append_of(*beginning("a"))])
        assert results_of(answers) == [2, "SEQ_TAKEN"]
        assert results_of(committer.commit([append_of(*step_turn("b", 3))])) == [2]
        committer.close()
    assert stored(tmp_path) == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3), ("b", 4)]


def test_a_second_failure_is_the_last(tmp_path: Path) -> None:
    """When the commit fails again after the file was opened again, nothing more is promised."""
    watcher = LastWriteThenError()
    with watched_vfs(watcher) as vfs:
        committer = opened(tmp_path, vfs)
        watcher.lies = 2
        with pytest.raises(StoreError) as lost:
            committer.commit([append_of(*beginning("a"))])
        assert lost.value.reason == "JOURNAL_FAILED"


def test_a_start_on_a_failing_disk_is_refused(tmp_path: Path) -> None:
    """A journal whose first commit fails does not open."""
    with failing_vfs() as (vfs, failing):
        failing.fail_at, failing.for_good = 1, True
        with pytest.raises(StoreError) as refused:
            opened(tmp_path, vfs)
        assert refused.value.reason == "JOURNAL_FAILED"


def test_damage_found_while_opening_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged list of runs, in a file too large to check at the start, refuses the start as damage of the journal."""
    committer = opened(tmp_path)
    committer.commit([append_of(*beginning("a"))])
    committer.close()
    path = tmp_path / "journal.db"
    connection = apsw.Connection(str(path))
    roots = connection.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'runs'").fetchall()
    connection.close()
    content = bytearray(path.read_bytes())
    for (root,) in roots:
        assert isinstance(root, int)
        content[(root - 1) * 4096 : (root - 1) * 4096 + 8] = b"\xa5" * 8
    path.write_bytes(content)
    monkeypatch.setattr("aeond.capabilities.sqlite_file.CHECKED_BYTES", 0)
    with pytest.raises(StoreError) as refused:
        opened(tmp_path)
    assert refused.value.reason == "JOURNAL_CORRUPT"


def test_a_log_left_by_a_kill_is_synced_before_it_is_read(tmp_path: Path) -> None:
    """Opening a file whose log was written and perhaps not synced syncs the log first."""
    committer = opened(tmp_path)
    committer.commit([append_of(*beginning("a"))])
    (tmp_path / "copy").mkdir()
    for name in ("journal.db", "journal.db-wal"):
        (tmp_path / "copy" / name).write_bytes((tmp_path / name).read_bytes())
    committer.close()
    with failing_vfs() as (vfs, failing):
        failing.counted = ("sync",)
        again = opened(tmp_path / "copy", vfs)
        assert failing.done == 1
        again.close()
    assert stored(tmp_path / "copy") == [("a", 1), ("a", 2)]


def test_a_reader_does_not_stop_the_log_from_going_back(tmp_path: Path) -> None:
    """While a reader uses an old page, the log is checkpointed as far as possible, and fully once the reader
    is done.
    """
    committer = opened(tmp_path)
    committer.commit([append_of(*beginning("a"))])
    reader = apsw.Connection(str(tmp_path / "journal.db"))
    page = reader.execute("SELECT seq FROM events")
    assert next(page) == (1,)
    for seq in range(3, 203, 2):
        committer.commit([append_of(*step_turn("a", seq, "x" * 3_000))])
    had_log = [committer.has_log]
    committer.checkpoint()
    had_log.append(committer.has_log)
    page.close(True)
    reader.close()
    committer.checkpoint()
    had_log.append(committer.has_log)
    assert had_log == [True, True, False]
    committer.close()
    assert len(stored(tmp_path)) == 202
