"""A journal whose disk is full when a test says so."""

from collections.abc import Sequence

from aeond.domain.runs.events import Event, RunSuspended
from aeond.errors import StoreError
from tests.support.in_memory_journal import InMemoryJournal


class FullDisk(InMemoryJournal):
    """A journal that has room for this many more appends; the reserve takes one more event."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    async def append(self, events: Sequence[Event]) -> None:
        if self.room < 0:
            raise StoreError("the disk is full", reason="DISK_FULL")
        if self.room == 0 and not isinstance(events[-1].kind, RunSuspended):
            raise StoreError("the disk is full", reason="DISK_FULL")
        self.room -= 1
        await super().append(events)

    async def probe(self) -> None:
        if self.room <= 0:
            raise StoreError("the disk is full", reason="DISK_FULL")
