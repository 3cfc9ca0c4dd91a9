"""Counts what a journal asks of the disk: a figure that no machine makes faster or slower.

with counting_vfs() as (vfs, counts):
    async with SqliteJournal(path, vfs=vfs) as journal:
        await settled(journal)
        counts.clear()
        ...
        assert counts.syncs == 1
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aeond.ports import Journal
from tests.support.watched_vfs import Watcher, watched_vfs


@dataclass
class Counts(Watcher):
    """Since the last `clear`, over all files."""

    syncs: int = 0
    writes: int = 0
    written_bytes: int = 0

    def clear(self) -> None:
        self.syncs = self.writes = self.written_bytes = 0

    def write(self, path: str, offset: int, data: bytes) -> None:
        self.writes += 1
        self.written_bytes += len(data)

    def sync(self, path: str) -> None:
        self.syncs += 1


@contextmanager
def counting_vfs() -> Iterator[tuple[str, Counts]]:
    """Yields the name of a VFS and the counters of its calls."""
    counts = Counts()
    with watched_vfs(counts) as name:
        yield name, counts


async def settled(journal: Journal) -> None:
    """Returns once the writer has done what it does by itself after it was opened (two turns: the second
    is taken after the first has ended)."""
    await journal.probe()
    await journal.probe()
