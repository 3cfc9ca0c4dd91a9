"""A journal that measures how long its commits take."""

from collections.abc import Mapping, Sequence

from aeond.domain.runs.events import Event
from aeond.domain.runs.run import RunState
from aeond.observability.histogram import Histogram
from aeond.ports import Clock, Journal, RunSummary
from aeond.ports.journal import ANY_RUN, RunFilter


class TimedJournal:
    """Passes everything to another Journal, and observes the seconds of each successful append."""

    def __init__(self, journal: Journal, clock: Clock, seconds: Histogram) -> None:
        self._journal = journal
        self._clock = clock
        self._seconds = seconds

    async def append(self, events: Sequence[Event]) -> None:
        begun = self._clock.monotonic()
        await self._journal.append(events)
        self._seconds.observe(self._clock.monotonic() - begun)

    async def find_request(self, uid: int, request_id: str) -> str | None:
        return await self._journal.find_request(uid, request_id)

    async def read(self, run_id: str, after_seq: int = 0, limit: int = 256) -> Sequence[Event]:
        return await self._journal.read(run_id, after_seq, limit)

    async def summary(self, run_id: str) -> RunSummary | None:
        return await self._journal.summary(run_id)

    async def list_runs(self, wanted: RunFilter = ANY_RUN) -> Sequence[RunSummary]:
        return await self._journal.list_runs(wanted)

    async def count_runs(self) -> Mapping[RunState, int]:
        return await self._journal.count_runs()

    async def probe(self) -> None:
        await self._journal.probe()
