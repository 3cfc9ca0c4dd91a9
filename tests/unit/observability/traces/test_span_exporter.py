"""The export of spans to a collector that parses real protobuf."""

import logging
from collections.abc import Sequence

import grpc
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from aeond.observability.traces.span_exporter import ATTEMPTS, SpanExporter
from tests.support.doubles import EagerClock
from tests.support.otlp_collector import Collector, collecting

SENT = [Span(trace_id=b"t" * 16, span_id=bytes([number] * 8), name=f"span {number}") for number in range(3)]


def encoded(span: Span) -> bytes:
    return ScopeSpans(spans=[span]).SerializeToString()


SPANS = [encoded(span) for span in SENT]


async def exported(collector: Collector, spans: Sequence[bytes]) -> int:
    exporter = SpanExporter(collector.endpoint, "1", EagerClock())
    taken = await exporter.export(spans, len(spans))
    await exporter.close()
    return taken


async def test_spans_arrive_as_they_were_sent() -> None:
    """The collector parses the same spans, with the name and version of the service."""
    async with collecting() as collector:
        assert await exported(collector, SPANS) == 3
        assert collector.spans == SENT
        resource = collector.requests[0].resource_spans[0].resource
        assert {one.key: one.value.string_value for one in resource.attributes} == {
            "service.name": "aeond",
            "service.version": "1",
        }


async def test_large_spans_arrive_as_they_were_sent() -> None:
    """Spans and requests of any length are encoded so that the collector parses them."""
    sent = [Span(trace_id=b"t" * 16, name="x" * length) for length in (0, 1, 100, 127, 128, 20_000, 300_000)]
    async with collecting() as collector:
        assert await exported(collector, [encoded(span) for span in sent]) == len(sent)
        assert collector.spans == sent


async def test_a_busy_collector_is_tried_again() -> None:
    """Refusals that the protocol calls retryable are retried, at most twice."""
    async with collecting() as collector:
        collector.refusals.extend([grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED])
        assert await exported(collector, SPANS) == 3
        assert collector.attempts == 3


async def test_a_collector_that_stays_away_costs_the_spans(caplog: pytest.LogCaptureFixture) -> None:
    """After the last attempt the spans are dropped; failures in a row are logged once."""
    async with collecting() as collector:
        exporter = SpanExporter(collector.endpoint, "1", EagerClock())
        collector.refusals.extend([grpc.StatusCode.UNAVAILABLE] * ATTEMPTS * 2)
        with caplog.at_level(logging.WARNING, "aeond.traces"):
            assert await exporter.export(SPANS, 3) == 0
            assert await exporter.export(SPANS, 3) == 0
        assert collector.attempts == ATTEMPTS * 2
        assert len(caplog.records) == 1
        assert "UNAVAILABLE" in caplog.text


async def test_a_refusal_for_good_is_not_repeated() -> None:
    """A collector that does not accept the spans is asked once."""
    async with collecting() as collector:
        collector.refusals.append(grpc.StatusCode.INVALID_ARGUMENT)
        assert await exported(collector, SPANS) == 0
        assert collector.attempts == 1


async def test_rejected_spans_do_not_count_as_exported() -> None:
    """If the collector takes a part of the spans, the others count as not taken."""
    async with collecting() as collector:
        collector.rejects = 2
        assert await exported(collector, SPANS) == 1


async def test_exports_share_a_connection_and_go_on_after_its_end() -> None:
    """Exports use one connection; after its end, by `close` or by a failure, the next export has another one."""
    async with collecting() as collector:
        exporter = SpanExporter(collector.endpoint, "1", EagerClock())
        for taken in (3, 3):
            assert await exporter.export(SPANS, 3) == taken
        await exporter.close()
        collector.refusals.extend([grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INVALID_ARGUMENT])
        for taken in (0, 3):
            assert await exporter.export(SPANS, 3) == taken
        await exporter.close()
        await exporter.close()
        assert collector.peers[0] == collector.peers[1]
