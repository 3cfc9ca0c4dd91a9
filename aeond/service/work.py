"""What the scheduler has in hand: runs at work, runs on their way into the journal."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from aeond.domain.events import Event, EventKind
from aeond.domain.runs import RunSnapshot
from aeond.errors import AeondError
from aeond.ports import Journal, RunLoop
from aeond.service.feed import Watcher


@dataclass(eq=False, slots=True)
class Work:
    """A run that is being worked on."""

    loop: RunLoop
    done: anyio.Event = field(default_factory=anyio.Event)
    parking: bool = False

    def park(self) -> None:
        """Puts the work aside, to be taken up again."""
        self.parking = True
        self.loop.park()


@dataclass(eq=False, slots=True)
class Creation:
    """A run on its way into the journal."""

    events: Sequence[Event]
    snapshot: RunSnapshot  # as those events leave it
    done: anyio.Event = field(default_factory=anyio.Event)
    error: AeondError | None = None


async def is_recorded(
    journal: Journal, watcher: Watcher, work: Work, after_seq: int, kind: EventKind
) -> bool:
    """Waits for an event that was handed in; false when the loop ended without it."""
    run_id, cursor = work.loop.snapshot.run_id, after_seq
    while True:
        ended = work.done.is_set()
        while page := await journal.read(run_id, cursor):
            if any(event.kind == kind for event in page):
                return True
            cursor = page[-1].seq
        if ended:
            return False
        if watcher.go_hot(cursor):
            await watcher.take()
