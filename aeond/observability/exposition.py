"""The metrics page in the formats that Prometheus and node_exporter read."""

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from aeond.observability.families import FAMILIES, Reading

OPENMETRICS: Final = "application/openmetrics-text"


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
