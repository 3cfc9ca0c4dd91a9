"""The disk fails: each write and each sync of a short life of a journal, once and for good."""

import gc
from pathlib import Path

import pytest

from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.journal.writer import committer
from aeond.capabilities.sqlite_file import open_reader
from aeond.domain.runs.events import Event
from aeond.errors import StoreError
from tests.support.counting_vfs import settled
from tests.support.failing_vfs import Failing, failing_vfs
from tests.support.journals import all_events, beginning, journal_in, step_turn

RUNS = ("a", "b")


def appends() -> list[list[Event]]:
    """The appended events in order: two concurrent runs, some events larger than a page of the file."""
    turns = [[event for run_id in RUNS for event in beginning(run_id)]]
    for seq in range(3, 7, 2):
        turns += [step_turn(run_id, seq, "x" * (200 if run_id == "a" else 6_000)) for run_id in RUNS]
    return turns


class Life:
    """One journal from its first append to its end, on a disk that fails at one point."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.acknowledged: list[Event] = []
        self.errors: list[StoreError] = []
        self.acknowledged_after_failure = False

    async def live(self, fail_at: int = 0, for_good: bool = False) -> Failing:
        self.folder.mkdir()
        with failing_vfs() as (vfs, failing):
            async with journal_in(self.folder, vfs=vfs, deadline_seconds=20) as journal:
                await settled(journal)
                failing.done, failing.fail_at, failing.for_good = 0, fail_at, for_good
                for events in appends():
                    try:
                        await journal.append(events)
                    except StoreError as error:
                        self.errors.append(error)
                    else:
                        self.acknowledged += events
                        self.acknowledged_after_failure |= bool(self.errors)
            return failing

    async def check(self) -> None:
        """Acknowledged events are present after a restart, and the stored events are a prefix of each run."""
        gc.collect()  # a failed journal keeps its connection; the process that held it has ended
        async with journal_in(self.folder) as journal:
            for run_id in RUNS:
                tried = [event for events in appends() for event in events if event.run_id == run_id]
                there = await all_events(journal, run_id)
                acknowledged = [event for event in self.acknowledged if event.run_id == run_id]
                assert there == tried[: len(there)]
                assert acknowledged == there[: len(acknowledged)]
        assert {error.reason for error in self.errors} <= {"JOURNAL_FAILED"}
        assert not self.acknowledged_after_failure


@pytest.fixture(scope="module", autouse=True)
def quick_collections() -> None:
    """The collections below look only at what these tests create, not at what earlier tests left in this process."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def short_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the log is written back while the disk fails, too."""
    monkeypatch.setattr(committer, "LONG_LOG_BYTES", 64 << 10)


@pytest.mark.slow
@pytest.mark.parametrize("for_good", [False, True])
async def test_no_failure_of_the_disk_loses_an_acknowledged_event(tmp_path: Path, for_good: bool) -> None:
    """Whichever write or sync fails, once or for good, nothing acknowledged is lost or follows a failure."""
    healthy = Life(tmp_path / "healthy")
    points = (await healthy.live()).done
    assert len(healthy.acknowledged) == sum(map(len, appends()))
    assert points > 50
    reported = 0
    for point in range(1, points + 1):
        life = Life(tmp_path / f"at{point}")
        failing = await life.live(point, for_good)
        await life.check()
        assert failing.failed
        reported += bool(life.errors)
    assert reported > 0


async def test_a_write_that_fails_once_is_made_good(tmp_path: Path) -> None:
    """A journal whose disk failed one write goes on as if nothing had been."""
    life = Life(tmp_path / "life")
    failing = await life.live(fail_at=1)
    assert failing.failed == ["write"]
    assert life.errors == []
    await life.check()


async def test_a_failed_sync_ends_the_journal(tmp_path: Path) -> None:
    """After one failed sync nothing is acknowledged any more, because reading back would prove nothing."""
    with failing_vfs() as (vfs, failing):
        async with journal_in(tmp_path, vfs=vfs) as journal:
            await settled(journal)
            await journal.append(beginning("r"))
            failing.counted, failing.done, failing.fail_at = ("sync",), 0, 1
            with pytest.raises(StoreError) as first:
                await journal.append(step_turn("r", 3))
            with pytest.raises(StoreError) as second:
                await journal.append(step_turn("r", 3))
            with pytest.raises(StoreError) as third:
                await journal.probe()
            with pytest.raises(StoreError) as fourth:
                await journal.read("r")
            assert {error.value.reason for error in (first, second, third, fourth)} == {"JOURNAL_FAILED"}
            reader = open_reader(tmp_path / "journal.db", JOURNAL)
            assert reader.execute("SELECT seq FROM events").fetchall() == [(1,), (2,)]
            reader.close()
