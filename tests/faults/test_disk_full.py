"""The disk is full, and then it is not."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from aeond.capabilities.journal.writer import committer
from aeond.capabilities.journal.writer.changes import Probe
from aeond.capabilities.journal.writer.committer import Committer
from aeond.capabilities.journal.writer.reserve import Reserve
from aeond.capabilities.memory.sqlite_memory import SqliteMemory
from aeond.domain.runs.events import RunEnded, RunParked, RunSuspended
from aeond.domain.runs.run import RunState, SuspendReason
from aeond.errors import StoreError
from aeond.ports import Journal, Memory
from tests.support.counting_vfs import settled
from tests.support.failing_vfs import failing_vfs
from tests.support.journals import all_events, append_of, beginning, event, journal_in, step_turn
from tests.support.small_disk import fill, small_disk

RUNS = ("a", "b", "c")


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(committer, "LONG_LOG_BYTES", 128 << 10)
    with small_disk(tmp_path / "disk", 2 << 20) as folder:
        yield folder


async def append_until_full(journal: Journal, run_id: str, seq: int) -> int:
    """Appends to a run from `seq` on until it is refused, and returns the seq that was."""
    try:
        while True:
            await journal.append(step_turn(run_id, seq, "x" * 20_000))
            seq += 2
    except StoreError as refused:
        assert (refused.reason, refused.retryable) == ("DISK_FULL", True)
        return seq


async def remember_for_ever(memory: Memory) -> None:
    for number in itertools.count():
        await memory.write(f"large{number}", "x" * 50_000)


async def test_a_full_disk_suspends_runs_and_loses_nothing(disk: Path) -> None:
    """On a full disk appends are refused, each run can say that it is suspended, reads go on, and all goes on
    once there is room again."""
    async with journal_in(disk, reserve_bytes=256 << 10) as journal:
        await settled(journal)
        for run_id in RUNS:
            await journal.append(beginning(run_id))
        ballast = fill(disk)
        seqs = {}
        for run_id in RUNS:
            seqs[run_id] = await append_until_full(journal, run_id, 3)
            await journal.append([event(run_id, seqs[run_id], RunSuspended(SuspendReason.DISK_FULL))])
            assert len(await all_events(journal, run_id)) == seqs[run_id]
        with pytest.raises(StoreError):
            await journal.append(beginning("d"))
        assert not (disk / "journal.db-reserve").exists()
        assert {line.state for line in await journal.list_runs()} == {RunState.SUSPENDED}

        ballast.unlink()
        await journal.append(beginning("d"))
        assert (disk / "journal.db-reserve").stat().st_size == 256 << 10
        for run_id in RUNS:
            await journal.append(step_turn(run_id, seqs[run_id] + 1))
    connection = apsw.Connection(str(disk / "journal.db"))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


async def test_a_daemon_starts_on_a_full_disk(disk: Path) -> None:
    """A journal opens on a disk that is full, tells what is in it, and takes appends once there is room again."""
    async with journal_in(disk, reserve_bytes=256 << 10) as journal:
        await journal.append(beginning("a"))
    ballast = fill(disk)
    async with journal_in(disk, reserve_bytes=256 << 10) as journal:
        assert len(await journal.read("a")) == 2
        await append_until_full(journal, "a", 3)
        ballast.unlink()
        there = len(await all_events(journal, "a"))
        await journal.append([event("a", there + 1, RunParked())])


async def test_a_full_disk_is_reported_to_the_caller(disk: Path) -> None:
    """Memory refuses what finds no room, keeps what it has, and takes it once there is room again."""
    async with SqliteMemory(disk / "memory.db") as memory:
        await memory.write("kept", 1)
        ballast = fill(disk)
        with pytest.raises(StoreError) as refused:
            await remember_for_ever(memory)
        assert refused.value.reason == "DISK_FULL"
        assert await memory.read("kept") == 1
        ballast.unlink()
        await memory.write("later", 2)
        assert await memory.read("later") == 2


class ToldReserve(Reserve):
    """Finds room when the test says so."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, 4096)
        self.there_is_room = True
        self.freed = 0

    def make(self) -> bool:
        return self.there_is_room and super().make()

    def free(self) -> None:
        self.freed += 1
        super().free()


def test_only_last_words_are_written_on_the_reserve(tmp_path: Path) -> None:
    """While the disk is full a group of appends is refused but for those that end, park or suspend a run."""
    with failing_vfs() as (vfs, failing):
        reserve = ToldReserve(tmp_path / "reserve")
        committer = Committer(tmp_path / "journal.db", reserve, vfs)
        committer.open()
        committer.commit([append_of(*beginning("a"), *beginning("b"), *beginning("c"))])
        failing.full, reserve.there_is_room = True, False
        refused = committer.commit([append_of(*step_turn("a", 3))])
        assert [answer.reason for answer in refused if isinstance(answer, StoreError)] == ["DISK_FULL"]
        assert reserve.freed == 1

        failing.full = False  # the reserve is free
        suspended = RunSuspended(SuspendReason.DISK_FULL)
        large = RunSuspended(SuspendReason.DISK_FULL, "x" * 10_000)
        answers = committer.commit(
            [
                append_of(*step_turn("a", 3)),
                append_of(event("a", 3, suspended)),
                append_of(event("b", 3, large)),
                append_of(event("b", 3, RunParked()), event("c", 3, RunEnded(RunState.FAILED))),
                Probe(),
            ]
        )
        assert [a if isinstance(a, int) else a.reason for a in answers] == [
            "DISK_FULL",
            1,
            "DISK_FULL",
            2,
            "DISK_FULL",
        ]

        reserve.there_is_room = True
        assert committer.commit([append_of(*step_turn("a", 4))]) == [2]
        committer.close()
