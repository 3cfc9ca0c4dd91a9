"""A journal that measures how long its commits take."""

from collections.abc import Sequence

from aeond.domain.runs.events import Event
from aeond.observability.histogram import Histogram
from aeond.ports import Clock, Journal


class TimedJournal:
    """Passes everything to another Journal, and observes the seconds of each successful append."""

    def __init__(self, journal: Journal, clock: Clock, seconds: Histogram) -> None:
        self._append = journal.append
        self._clock = clock
        self._seconds = seconds
        self.find_request, self.read, self.probe = journal.find_request, journal.read, journal.probe
        self.summary, self.list_runs, self.count_runs = journal.summary, journal.list_runs, journal.count_runs

    async def append(self, events: Sequence[Event]) -> None:
        begun = self._clock.monotonic()
        await self._append(events)
        self._seconds.observe(self._clock.monotonic() - begun)
