"""Work items of the scheduler: active runs, and runs being created."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio

from aeond.domain.runs.events import Event, EventKind, RunStarted
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.errors import AeondError, StoreError, WrongStateError
from aeond.ports import LOOP_ENDED, Journal, RunLoop, RunSummary
from aeond.ports.journal import RunFilter, every_run
from aeond.service.folding import RunFolding
from aeond.service.watching.feed import Watcher
from aeond.state_machine.transitions import admits

WAITING: Final = frozenset({RunState.AWAITING_INPUT, RunState.SUSPENDED})
LIVE: Final = WAITING | {RunState.PENDING, RunState.RUNNING}
PAGE_RUNS: Final = 256


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


async def unfinished(journal: Journal) -> list[RunSummary]:
    """The unfinished runs. Those that may wait for a person come first, because questions have deadlines; then the
    oldest.
    """
    runs = [run async for run in every_run(journal, RunFilter(states=LIVE, limit=PAGE_RUNS))]
    return sorted(runs, key=lambda run: (run.state not in WAITING, run.run_id))


def is_fatal(error: AeondError) -> bool:
    """Whether the journal has failed permanently: no event can be accepted any more."""
    return isinstance(error, StoreError) and error.reason == "JOURNAL_FAILED"


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


async def caught_up(
    work: Work | None, folding: RunFolding, watcher: Watcher, kind: EventKind, refusal: WrongStateError
) -> bool:
    """Waits where a loop refused an event that the run admits by its journal: clients see an event as soon as it is
    durable, and the loop may not have it yet, or be about to end. True if another delivery may then succeed.
    """
    if work is None:
        return False
    run = await folding.snapshot(work.loop.snapshot.run_id)
    if not admits(run, kind):
        return False
    ending = refusal.reason == LOOP_ENDED
    while not work.done.is_set() and (ending or work.loop.snapshot.seq < run.seq):
        if watcher.go_hot(work.loop.snapshot.seq):
            await watcher.take()
    return True
