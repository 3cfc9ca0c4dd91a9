"""Traces of runs, from events to the exporter."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from aeond.domain.runs import events as e
from aeond.domain.runs.run import Ancestry
from aeond.errors import StoreError
from aeond.observability.families import Export
from aeond.observability.traces.run_spans import RunSpans
from aeond.observability.traces.span_ids import RUN, span_id, trace_id
from aeond.observability.traces.tracing import BATCH_SPANS, GATHER_SECONDS, MANY_ENDED, MAX_ENDED, Tracing
from aeond.trace_context import TraceParent
from tests.support.doubles import EagerClock, ManualClock
from tests.support.golden import golden_journals
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.transcripts import read_lines

PLANNED = list(read_lines(next(story for story in golden_journals() if story.name == "0.1.0-planned").lines))
HEADER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{}"


class Exported:
    """Takes spans, and tells when there are enough."""

    def __init__(self) -> None:
        self.batches: list[list[Span]] = []
        self.connected = False
        self.closed = 0
        self._news = anyio.Event()

    @property
    def spans(self) -> list[Span]:
        return [span for batch in self.batches for span in batch]

    async def export(self, spans: Sequence[bytes], count: int) -> int:
        self.connected = True
        self.batches.append(decoded(b"".join(spans)))
        assert len(self.batches[-1]) == count
        self._news.set()
        return count

    async def close(self) -> None:
        self.closed += self.connected
        self.connected = False
        self._news.set()

    async def closes(self, count: int) -> None:
        with anyio.fail_after(10):
            while self.closed < count:
                self._news = anyio.Event()
                await self._news.wait()

    async def received(self, count: int) -> list[Span]:
        with anyio.fail_after(10):
            while len(self.spans) < count:
                self._news = anyio.Event()
                await self._news.wait()
        return self.spans


def run_named(run_id: str, header: str = "", ancestry: Ancestry | None = None) -> list[e.Event]:
    """The recorded run under another id, with this trace context."""
    first, *rest = (replace(event, run_id=run_id) for event in PLANNED)
    assert isinstance(first.kind, e.RunCreated)
    request = replace(first.kind.request, trace_parent=header)
    return [replace(first, kind=replace(first.kind, request=request, ancestry=ancestry or Ancestry())), *rest]


def decoded(spans: bytes) -> list[Span]:
    return list(ScopeSpans.FromString(spans).spans)


def usual_spans(events: Sequence[e.Event]) -> int:
    run = RunSpans(events[0].run_id, TraceParent(trace_id("r"), b"", sampled=True), lambda: "m", "p")
    run.add(events)
    return len(decoded(run.take()))


@asynccontextmanager
async def tracing(
    journal: InMemoryJournal, keep_seconds: float = 60.0
) -> AsyncIterator[tuple[Tracing, Exported]]:
    exported = Exported()
    traced = Tracing(journal, exported, lambda: "m", "p", EagerClock(), keep_seconds=keep_seconds)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(traced.run)
        yield traced, exported
        tasks.cancel_scope.cancel()


def hear(traced: Tracing, events: Sequence[e.Event]) -> None:
    for event in events:
        traced.hear([event])


async def test_a_run_that_ends_is_exported_once() -> None:
    """The trace of a run goes out when it ends, with the ids that follow from the run."""
    events = run_named("r1")
    async with tracing(InMemoryJournal()) as (traced, exported):
        hear(traced, events[:-1])
        await anyio.wait_all_tasks_blocked()
        assert exported.spans == []
        hear(traced, events[-1:])
        spans = await exported.received(usual_spans(events))
        assert {span.trace_id for span in spans} == {trace_id("r1")}
        assert traced.counts == Export(len(spans), 0)


async def test_a_run_of_an_earlier_daemon_is_read_from_the_journal() -> None:
    """A daemon that hears only the end of a run exports the same trace as one that heard all of it."""
    journal, events = InMemoryJournal(), run_named("r1")
    await journal.append(events)
    async with tracing(journal) as (traced, exported), tracing(journal) as (other, whole):
        hear(traced, events[-2:])
        hear(other, events)
        count = usual_spans(events)
        assert await exported.received(count) == await whole.received(count)


async def test_the_trace_of_the_client_goes_on() -> None:
    """A run that was requested with a trace context is a part of that trace, below the caller's span."""
    events = run_named("r1", HEADER.format("01"))
    async with tracing(InMemoryJournal()) as (traced, exported):
        hear(traced, events)
        spans = await exported.received(usual_spans(events))
        assert {span.trace_id.hex() for span in spans} == {"4bf92f3577b34da6a3ce929d0e0e4736"}
        root = next(span for span in spans if span.span_id == span_id("r1", RUN))
        assert root.parent_span_id.hex() == "00f067aa0ba902b7"


async def test_a_trace_that_the_client_does_not_record_is_not_exported() -> None:
    """The caller's decision not to record a trace holds for its runs and for runs that these start."""
    parent, child = run_named("p", HEADER.format("00")), run_named("c", "", Ancestry("p", "s1", ("x",)))
    last = run_named("z")
    journal = InMemoryJournal()
    await journal.append(parent)
    await journal.append(child)
    async with tracing(journal) as (traced, exported):
        for events in (parent, child, last):
            hear(traced, events)
        spans = await exported.received(usual_spans(last))
        assert {span.trace_id for span in spans} == {trace_id("z")}


async def test_a_trace_that_the_client_does_not_record_costs_nothing() -> None:
    """Of a run whose trace is not recorded, and of the runs that it starts, nothing is exported, and nothing is read when they
    end."""
    journal = InMemoryJournal()
    async with tracing(journal) as (traced, exported):
        parent, child = run_named("p", HEADER.format("00")), run_named("c", "", Ancestry("p", "s1", ("x",)))
        hear(traced, parent[:-1])
        hear(traced, child)
        hear(traced, parent[-1:])
        await anyio.wait_all_tasks_blocked()
        assert (exported.batches, exported.closed) == ([], 0)
        assert traced.counts == Export(0, 0)


async def test_a_connection_without_use_ends() -> None:
    """The connection to the collector is kept while runs end, and ends when none has ended for a while."""
    async with tracing(InMemoryJournal(), keep_seconds=0.0) as (traced, exported):
        hear(traced, run_named("r1"))
        await exported.received(usual_spans(PLANNED))
        await exported.closes(1)
        hear(traced, run_named("r2"))
        await exported.received(2 * usual_spans(PLANNED))
        await exported.closes(2)


async def test_a_child_run_is_below_the_step_that_started_it() -> None:
    """A child run is a part of its parent's trace, below the span of the call, also if the parent is only in the
    journal."""
    parent, child = run_named("p"), run_named("c", "", Ancestry("p", "s1", ("x",)))
    journal = InMemoryJournal()
    await journal.append(parent)
    await journal.append(child)
    async with tracing(journal) as (traced, exported):
        hear(traced, child)
        spans = await exported.received(usual_spans(child))
        assert {span.trace_id for span in spans} == {trace_id("p")}
        root = next(span for span in spans if span.span_id == span_id("c", RUN))
        assert root.parent_span_id == span_id("c", "caller")


async def test_requests_are_bounded_and_so_is_the_queue() -> None:
    """Many runs go out in requests of bounded size; runs beyond the queue are dropped and counted."""
    async with tracing(InMemoryJournal()) as (traced, exported):
        for number in range(MAX_ENDED + 5):
            hear(traced, run_named(f"r{number}"))
        spans = await exported.received(usual_spans(PLANNED) * MAX_ENDED)
        assert len(spans) == usual_spans(PLANNED) * MAX_ENDED
        assert BATCH_SPANS <= max(map(len, exported.batches)) < BATCH_SPANS + usual_spans(PLANNED)
        assert traced.counts.dropped == 5


async def test_runs_share_a_request() -> None:
    """A run that ended waits for others some seconds; when many have ended they go out after one."""
    exported, clock = Exported(), ManualClock()
    traced = Tracing(InMemoryJournal(), exported, lambda: "m", "p", clock)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(traced.run)
        for seconds, runs in ((GATHER_SECONDS, 1), (1, MANY_ENDED)):
            exported.batches.clear()
            for number in range(runs):
                hear(traced, run_named(f"r{runs}.{number}"))
            for _ in range(seconds):
                await anyio.wait_all_tasks_blocked()
                assert exported.spans == []
                clock.advance(1.0)
            assert len(await exported.received(runs * usual_spans(PLANNED))) == runs * usual_spans(PLANNED)
        tasks.cancel_scope.cancel()


async def test_a_stop_exports_what_is_left() -> None:
    """Runs that ended just before the stop are exported by it."""
    exported = Exported()
    traced = Tracing(InMemoryJournal(), exported, lambda: "m", "p", ManualClock())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(traced.run)
        await anyio.wait_all_tasks_blocked()
        hear(traced, run_named("r1"))
        await anyio.wait_all_tasks_blocked()
        assert exported.spans == []
        tasks.cancel_scope.cancel()
    assert len(exported.spans) == usual_spans(PLANNED)


class Held(Exported):
    """Takes no spans in the first request."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0
        self.begun = anyio.Event()

    async def export(self, spans: Sequence[bytes], count: int) -> int:
        self.requests += 1
        if self.requests == 1:
            self.begun.set()
            await anyio.sleep_forever()
        return await super().export(spans, count)


async def test_a_stop_exports_what_was_on_its_way() -> None:
    """Spans whose request is cut off by a stop go out in another one before the end."""
    events = run_named("r1")
    held = Held()
    traced = Tracing(InMemoryJournal(), held, lambda: "m", "p", EagerClock())
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(traced.run)
            hear(traced, events)
            await held.begun.wait()
            tasks.cancel_scope.cancel()
    assert traced.counts == Export(usual_spans(events), 0)


class Unreadable(InMemoryJournal):
    """A journal that cannot read the run `unreadable`."""

    async def read(self, run_id: str, after_seq: int = 0, limit: int = 256) -> Sequence[e.Event]:
        if run_id == "unreadable":
            raise StoreError("the journal cannot be read")
        return await super().read(run_id, after_seq, limit)


async def test_dropped_spans_count_once_where_a_request_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are read from the journal again, because a stop cut their request off, count what they drop once."""
    monkeypatch.setattr("aeond.observability.traces.run_spans.MAX_SPANS", 3)
    journal, events, held = Unreadable(), run_named("r1"), Held()
    await journal.append(events)
    traced = Tracing(journal, held, lambda: "m", "p", EagerClock())
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(traced.run)
            hear(traced, run_named("unreadable")[-1:])
            hear(traced, events[-1:])
            await held.begun.wait()
            tasks.cancel_scope.cancel()
    whole = RunSpans("r1", TraceParent(trace_id("r1"), b"", sampled=True), lambda: "m", "p")
    whole.add(events)
    whole.take()
    assert whole.dropped > 0
    assert traced.counts == Export(whole.count, whole.dropped + 1)
