"""The metrics of a running daemon: counts that follow the events, and readings of its present state."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Final, Protocol

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from aeond.domain.daemons import DaemonSnapshot
from aeond.domain.runs.run import RunState
from aeond.observability.families import FAMILIES, Export, Reading
from aeond.observability.histogram import SHORT, Histogram
from aeond.observability.run_counts import RunCounts
from aeond.ports import Journal
from aeond.ports.journal import RunFilter, every_run

OPENMETRICS: Final = "application/openmetrics-text"
PAGE_RUNS: Final = 256
UNENDED: Final = frozenset(state for state in RunState if not state.ended)


class _Page(Collector):
    """One reading as a source of metrics."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def collect(self) -> Iterator[Metric]:
        return (family.metric(self._reading) for family in FAMILIES)


def page(reading: Reading, accept: str = "", *, of_process: bool = True) -> tuple[str, bytes]:
    """Content type and text: OpenMetrics if the Accept header names it, else the older format, which node_exporter
    and browsers read. Without `of_process` the metrics of the process are left out: a reader that has those of its own
    process, under the same names, takes only one of both."""
    registry = CollectorRegistry()
    registry.register(_Page(reading))
    if of_process:
        ProcessCollector(registry=registry)
    if OPENMETRICS in accept:
        return openmetrics.CONTENT_TYPE_LATEST, openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call] # it has no types
    return CONTENT_TYPE_LATEST, generate_latest(registry)


class Clients(Protocol):
    """The clients of the daemon."""

    @property
    def connections(self) -> int: ...

    @property
    def streams(self) -> int: ...


class Metrics:
    """Counts in `counts` and `commits`, and shows them as a page."""

    def __init__(self) -> None:
        self.counts = RunCounts()
        self.commits = Histogram(SHORT)

    async def recall(self, journal: Journal) -> None:
        """Takes note of the runs that an earlier daemon left unfinished. Call it before they continue."""
        async for run in every_run(journal, RunFilter(states=UNENDED, limit=PAGE_RUNS)):
            seq = 0
            while events := await journal.read(run.run_id, seq):
                self.counts.recall(events)
                seq = events[-1].seq

    def page_of(
        self,
        journal: Journal,
        status: Callable[[], Awaitable[DaemonSnapshot]],
        clients: Clients,
        spans: Callable[[], Export],
        *,
        of_process: bool = True,
    ) -> Callable[[str], Awaitable[tuple[str, bytes]]]:
        """A function that reads the present state and returns content type and content for an Accept header; with
        `of_process` also the metrics of the process."""

        async def read(accept: str) -> tuple[str, bytes]:
            reading = Reading(
                counts=self.counts,
                daemon=await status(),
                runs=await journal.count_runs(),
                commits=self.commits,
                connections=clients.connections,
                streams=clients.streams,
                spans=spans(),
            )
            return page(reading, accept, of_process=of_process)

        return read
