"""The contents of a disk after a power cut: all synced data, and an arbitrary part of the rest.

A recorder notes every write and sync. From these, images are generated: at the power cut, all data synced
before it is present; each sector written since the last sync of its file may be present or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.support.watched_vfs import Watcher

SECTOR_BYTES = 512


@dataclass(frozen=True)
class Write:
    path: str
    offset: int
    data: bytes


@dataclass(frozen=True)
class Sync:
    path: str


@dataclass(frozen=True)
class Truncate:
    path: str
    size: int


@dataclass
class Recorder(Watcher):
    """All that reached the system, in order, and the files as they were before it."""

    before: dict[str, bytes] = field(default_factory=dict)
    steps: list[Write | Sync | Truncate] = field(default_factory=list)
    recording: bool = False

    def begin(self, folder: Path) -> None:
        """Takes the files of a folder as the state of the disk, and records from here."""
        self.before = {
            str(path): path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")
        }
        self.recording = True

    def write(self, path: str, offset: int, data: bytes) -> None:
        if self.recording:
            self.steps.append(Write(path, offset, data))

    def sync(self, path: str) -> None:
        if self.recording:
            self.steps.append(Sync(path))

    def truncate(self, path: str, size: int) -> None:
        if self.recording:
            self.steps.append(Truncate(path, size))

    def delete(self, path: str) -> None:
        assert not self.recording, "no file of a journal is deleted while it is in use"


def disk_images(recorder: Recorder, seed: int) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Endless power cuts with the contents of the disk; deterministic for a given seed."""
    random = Random(seed)
    while True:
        cut = random.randint(0, len(recorder.steps))
        yield cut, _image(recorder, cut, random)


def _image(recorder: Recorder, cut: int, random: Random) -> dict[str, bytes]:
    steps = recorder.steps[:cut]
    synced = {step.path: place for place, step in enumerate(steps) if isinstance(step, Sync)}
    # A disk that keeps nearly all, nearly nothing, or half of what was not synced.
    kept = random.choice((0.02, 0.5, 0.98))
    files = {path: bytearray(data) for path, data in recorder.before.items()}
    for place, step in enumerate(steps):
        if isinstance(step, Sync):
            continue
        content = files.setdefault(step.path, bytearray())
        certain = place < synced.get(step.path, -1)
        if isinstance(step, Truncate):
            if certain or random.random() < kept:
                del content[step.size :]
            continue
        for start, sector in _sectors(step):
            if certain or random.random() < kept:
                content.extend(bytes(max(0, start + len(sector) - len(content))))
                content[start : start + len(sector)] = sector
    return {path: bytes(content) for path, content in files.items()}


def _sectors(write: Write) -> Iterator[tuple[int, bytes]]:
    """The parts of a write by the sectors of the disk, which are written whole or not at all."""
    place = 0
    while place < len(write.data):
        end = place + SECTOR_BYTES - (write.offset + place) % SECTOR_BYTES
        yield write.offset + place, write.data[place:end]
        place = end
