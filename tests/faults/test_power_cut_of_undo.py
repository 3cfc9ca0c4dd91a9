"""Power cuts while changes are recorded for undo, on a disk that keeps an arbitrary part of unsynced data."""

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pytest

from aeond.capabilities import sqlite_file
from aeond.capabilities.undo.sqlite_undo_log import SqliteUndoLog
from aeond.domain.undo import Change, ChangeKind
from tests.support.power_cut import Recorder, disk_images
from tests.support.watched_vfs import watched_vfs

MAX_BYTES = 1 << 20
LOG_BYTES = 64 << 10  # so small that the log begins again while we look


@dataclass
class Recording:
    """A working undo log: the data passed to the system, and when each change might be made."""

    recorder: Recorder = field(default_factory=Recorder)
    recorded: list[tuple[int, Change]] = field(default_factory=list)


def change(number: int) -> Change:
    return Change(
        owner="run",
        step_id=f"s{number}",
        call_id=f"c{number}",
        kind=ChangeKind.FILE_WRITTEN,
        root="/srv/work",
        path="notes.txt",
        before=b"x" * (100 * (number % 60)),
        after=f"sha {number}",
        time=float(number),
    )


async def record(folder: Path, changes: int = 120) -> Recording:
    recording = Recording()
    folder.mkdir()
    with watched_vfs(recording.recorder) as vfs:
        async with SqliteUndoLog(folder / "undo.db", MAX_BYTES, vfs=vfs, log_bytes=LOG_BYTES) as log:
            recording.recorder.begin(folder)
            for number in range(changes):
                log.record_now(change(number))
                recording.recorded.append((len(recording.recorder.steps), change(number)))
            recording.recorder.recording = False
    return recording


async def losses(recording: Recording, folder: Path, images: int) -> list[str]:
    """Changes that might be made before the power cut and whose record is missing, or another, afterwards."""
    lost = []
    for number, (cut, files) in enumerate(islice(disk_images(recording.recorder, seed=images), images)):
        image = folder / f"image{number}"
        image.mkdir()
        for path, content in files.items():
            (image / Path(path).name).write_bytes(content)
        async with SqliteUndoLog(image / "undo.db", MAX_BYTES, log_bytes=LOG_BYTES) as log:
            for place, expected in recording.recorded:
                found = await log.find("run", expected.step_id, expected.call_id) if place <= cut else ()
                if place <= cut and [(one.before, one.after) for one in found] != [
                    (expected.before, expected.after)
                ]:
                    lost.append(f"{expected.step_id}, recorded at {place}, is not in the image of {cut}")
    return lost


@pytest.mark.parametrize("images", [20, pytest.param(300, marks=pytest.mark.nightly)])
async def test_no_change_is_made_whose_record_a_power_cut_takes(tmp_path: Path, images: int) -> None:
    """Whatever a disk kept when the power failed, the contents from before each change that may have been made are
    there, also if it failed while the log was extended."""
    recording = await record(tmp_path / "live")
    assert await losses(recording, tmp_path, images) == []


async def test_less_syncing_would_lose_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With SQLite's weaker setting records are lost in such cuts, so the cuts can tell."""
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", 1)
    recording = await record(tmp_path / "live")
    assert await losses(recording, tmp_path, 10) != []
