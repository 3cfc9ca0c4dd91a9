"""Work items of the scheduler: active runs, and runs being created."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from aeond.domain.runs.events import Event, EventKind, RunStarted
from aeond.domain.runs.run import RunSnapshot
from aeond.errors import AeondError, OverloadedError
from aeond.frozen import frozen
from aeond.ports import Journal, RunLoop
from aeond.service.watching.feed import Watcher


@frozen
class RunLimits:
    """The maximum number of active runs, and of runs waiting for a slot; and for how many seconds a run whose calls
    need approval waits for somebody to watch it."""

    running: int = 4
    waiting: int = 64
    attend_seconds: float = 300.0


@dataclass(eq=False, slots=True)
class Work:
    """An active run."""

    loop: RunLoop
    done: anyio.Event = field(default_factory=anyio.Event)
    parking: bool = False

    def park(self) -> None:
        """Parks the work, to be resumed later."""
        self.parking = True
        self.loop.park()


@dataclass(eq=False, slots=True)
class Creation:
    """A run being added to the journal."""

    events: Sequence[Event]
    snapshot: RunSnapshot  # as folded from those events
    done: anyio.Event = field(default_factory=anyio.Event)
    error: AeondError | None = None


def started(created: Event) -> Event:
    """The RunStarted event for a run that has a slot as soon as it is created."""
    return Event(created.run_id, created.seq + 1, created.time, created.elapsed_seconds, RunStarted())


def too_many_runs(waiting: int) -> OverloadedError:
    return OverloadedError(
        f"{waiting} runs are waiting already: retry when some have ended",
        reason="TOO_MANY_RUNS",
        retry_after_seconds=5.0,
    )


async def is_recorded(
    journal: Journal, watcher: Watcher, work: Work, after_seq: int, kind: EventKind
) -> bool:
    """Waits for a delivered event to be journaled; false if the loop ended without it."""
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
