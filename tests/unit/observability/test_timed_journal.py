"""The time of commits."""

from collections.abc import Sequence

import pytest

from aeond.domain.runs.events import Event
from aeond.errors import StoreError
from aeond.observability.histogram import SHORT, Histogram
from aeond.observability.timed_journal import TimedJournal
from tests.support.doubles import ManualClock
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.journals import beginning
from tests.support.mortal_journal import MortalJournal


class SlowJournal(InMemoryJournal):
    """Takes a quarter of a second for each commit."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock

    async def append(self, events: Sequence[Event]) -> None:
        await super().append(events)
        self._clock.advance(0.25)


async def test_each_commit_is_measured() -> None:
    """A commit is observed with the time until it was durable."""
    clock, seconds = ManualClock(), Histogram(SHORT)
    journal = TimedJournal(SlowJournal(clock), clock, seconds)
    await journal.append(beginning("a"))
    await journal.append(beginning("b"))
    assert (seconds.count, seconds.sum) == (2, 0.5)
    assert [len(await journal.read(run_id)) for run_id in "ab"] == [len(beginning("a"))] * 2


async def test_a_commit_that_failed_is_not_measured() -> None:
    """The histogram holds commits alone; the error reaches the caller."""
    seconds = Histogram(SHORT)
    dead = MortalJournal(InMemoryJournal())
    dead.die()
    journal = TimedJournal(dead, ManualClock(), seconds)
    with pytest.raises(StoreError):
        await journal.append(beginning("a"))
    assert seconds.count == 0
