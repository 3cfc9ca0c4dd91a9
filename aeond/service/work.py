"""What the scheduler has in hand: runs at work, runs on their way into the journal."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from aeond.domain.events import Event, EventKind, RunStarted
from aeond.domain.runs import RunSnapshot
from aeond.errors import AeondError, OverloadedError
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


def started(created: Event) -> Event:
    """What says that a run begins, where it has a place as soon as it is created."""
    return Event(created.run_id, created.seq + 1, created.time, created.elapsed_seconds, RunStarted())


def too_many_runs(waiting: int) -> OverloadedError:
    return OverloadedError(
        f"{waiting} runs wait for their turn already: try again when some have ended",
        reason="TOO_MANY_RUNS",
        retry_after_seconds=5.0,
    )


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
