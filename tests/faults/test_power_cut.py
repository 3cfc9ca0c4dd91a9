"""Power cuts at any time, on a disk that keeps an arbitrary part of unsynced data."""

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import anyio
import apsw
import pytest

from aeond.capabilities import sqlite_file
from aeond.capabilities.journal.writer import committer
from aeond.capabilities.journal.writer.committer import Committer
from aeond.capabilities.journal.writer.reserve import Reserve
from tests.support.counting_vfs import settled
from tests.support.journals import beginning, journal_in, step_turn
from tests.support.power_cut import Recorder, disk_images
from tests.support.watched_vfs import watched_vfs

# So small that the log is written back several times while we look.
LOG_BYTES = 64 << 10


@dataclass
class Recording:
    """A working journal: the data passed to the system, and the times at which events were acknowledged."""

    recorder: Recorder = field(default_factory=Recorder)
    acknowledged: list[tuple[int, str, int]] = field(default_factory=list)

    def acknowledge(self, run_id: str, seq: int) -> None:
        self.acknowledged.append((len(self.recorder.steps), run_id, seq))


async def record(folder: Path, runs: int = 8, turns: int = 12) -> Recording:
    recording = Recording()

    with watched_vfs(recording.recorder) as vfs:
        async with journal_in(folder, vfs=vfs) as journal:
            await settled(journal)

            async def work(run_id: str) -> None:
                await journal.append(beginning(run_id))
                recording.acknowledge(run_id, 2)
                for seq in range(3, 3 + 2 * turns, 2):
                    await journal.append(step_turn(run_id, seq, "x" * 400))
                    recording.acknowledge(run_id, seq + 1)

            recording.recorder.begin(folder)
            async with anyio.create_task_group() as group:
                for number in range(runs):
                    group.start_soon(work, f"r{number}")
            recording.recorder.recording = False
    return recording


def seqs_after_restart(folder: Path, files: dict[str, bytes]) -> dict[str, list[int]]:
    """Opens what is on the disk as a new daemon would, and reads every event."""
    folder.mkdir()
    for path, content in files.items():
        (folder / Path(path).name).write_bytes(content)
    place = folder / "journal.db"
    committer = Committer(place, Reserve(folder / "reserve", 4096))
    committer.open()
    committer.close()
    connection = apsw.Connection(str(place))
    seqs: dict[str, list[int]] = {}
    for run_id, seq in connection.execute("SELECT run_id, seq FROM events ORDER BY run_id, seq"):
        seqs.setdefault(run_id, []).append(seq)
    listed = set(connection.execute("SELECT run_id, last_seq FROM runs"))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
    assert {(run_id, own[-1]) for run_id, own in seqs.items()} == listed
    return seqs


def losses(recording: Recording, folder: Path, images: int) -> list[str]:
    """Events that were acknowledged before the power cut and are missing afterwards."""
    lost = []
    for number, (cut, files) in enumerate(islice(disk_images(recording.recorder, seed=images), images)):
        seqs = seqs_after_restart(folder / f"image{number}", files)
        for run_id, own in seqs.items():
            assert own == list(range(1, len(own) + 1)), f"{run_id} has a gap"
        lost += [
            f"{run_id}/{seq} acknowledged at {place} is not in the image of {cut}"
            for place, run_id, seq in recording.acknowledged
            if place <= cut and seq > len(seqs.get(run_id, []))
        ]
    return lost


@pytest.fixture
def short_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committer, "LONG_LOG_BYTES", LOG_BYTES)


@pytest.mark.usefixtures("short_log")
@pytest.mark.parametrize("images", [100, pytest.param(1_000, marks=pytest.mark.nightly)])
async def test_no_acknowledged_event_is_lost_in_a_power_cut(tmp_path: Path, images: int) -> None:
    """Whatever a disk kept when the power failed, every acknowledged event is there and each run is gapless."""
    (tmp_path / "live").mkdir()
    recording = await record(tmp_path / "live")
    assert len(recording.acknowledged) == 8 * 13
    assert losses(recording, tmp_path, images) == []


@pytest.mark.usefixtures("short_log")
async def test_less_syncing_would_lose_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With SQLite's weaker setting acknowledged events are lost in the same cuts, so the cuts can tell."""
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", 1)
    (tmp_path / "live").mkdir()
    recording = await record(tmp_path / "live")
    assert losses(recording, tmp_path, 20) != []
