"""Makes the traces of ended runs and exports them."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import anyio

from aeond.domain.runs import events as e
from aeond.errors import AeondError
from aeond.observability.families import Export
from aeond.observability.traces.run_spans import RunSpans
from aeond.observability.traces.span_ids import span_id, trace_id
from aeond.ports import Clock, Journal
from aeond.trace_context import TraceParent

MAX_RUNS: Final = 512  # whose spans are collected while they work; others are read from the journal
MAX_ENDED: Final = 512
MANY_ENDED: Final = MAX_ENDED // 4  # are exported at once
BATCH_SPANS: Final = 2_048  # about 400 kB; with the spans of one more run 1.3 MB, and a collector takes 4
GATHER_SECONDS: Final = 5  # short runs share a request
FLUSH_SECONDS: Final = 2.0
MAX_ANCESTORS: Final = 16
_LEAVING: Final = frozenset((e.RunEnded, e.RunSuspended, e.RunParked))


class Exporter(Protocol):
    async def export(self, spans: Sequence[bytes], count: int) -> int:
        """How many of `count` spans, encoded as fields of ScopeSpans, were taken."""

    async def close(self) -> None:
        """Ends the connection; the next export makes another one."""


class Tracing:
    """Collects the spans of runs and exports those of each run when it has ended.

    `model` returns the name of the daemon's model. A run that began under an earlier daemon, or was suspended
    meanwhile, is read from the journal. Spans that cannot be exported are dropped and counted. The connection is kept for
    `keep_seconds`.
    """

    def __init__(
        self,
        journal: Journal,
        exporter: Exporter,
        model: Callable[[], str],
        provider: str,
        clock: Clock,
        *,
        keep_seconds: float = 5.0,
    ) -> None:
        self._journal = journal
        self._exporter = exporter
        self._model = model
        self._provider = provider
        self._clock = clock
        self._keep_seconds = keep_seconds
        self._runs: dict[str, RunSpans] = {}
        self._ended: deque[tuple[str, RunSpans | None]] = deque()
        self._news = anyio.Event()
        self._waiting_spans = 0  # of ended runs; those of a run that the journal is read for do not count
        self._exported = 0
        self._dropped = 0

    @property
    def counts(self) -> Export:
        return Export(self._exported, self._dropped)

    def hear(self, events: Sequence[e.Event]) -> None:
        """Takes events of one run that were published together."""
        run_id = events[0].run_id
        run = self._runs.get(run_id)
        if run is not None:
            run.add(events if run.recorded else ())
        elif isinstance(events[0].kind, e.RunCreated) and len(self._runs) < MAX_RUNS:
            run = self._runs[run_id] = self._begun(events, events[0].kind)
        if any(type(event.kind) in _LEAVING for event in events):
            self._runs.pop(run_id, None)
        if type(events[-1].kind) is e.RunEnded and (run is None or run.recorded):
            self._end(run_id, run)

    async def run(self) -> None:
        """Exports until cancelled, then exports what is left, within FLUSH_SECONDS."""
        try:
            while True:
                with anyio.move_on_after(self._keep_seconds):
                    await self._news.wait()
                if not self._news.is_set():
                    await self._exporter.close()  # a connection costs a little, even if it is not used
                    await self._news.wait()
                await self._gather()
                self._news = anyio.Event()
                await self._export()
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(FLUSH_SECONDS):
                await self._export()
                await self._exporter.close()

    async def _gather(self) -> None:
        """Waits for GATHER_SECONDS, or until there are spans enough for a request."""
        for _ in range(GATHER_SECONDS):
            await self._clock.sleep_until(self._clock.monotonic() + 1.0)
            if self._waiting_spans >= BATCH_SPANS or len(self._ended) >= MANY_ENDED:
                break

    def _begun(self, events: Sequence[e.Event], created: e.RunCreated) -> RunSpans:
        run = self._spans_of(events[0].run_id)
        if caller := self._runs.get(created.ancestry.parent_run_id):
            run.recorded = caller.recorded
        elif created.request.trace_parent:
            above = TraceParent.parse(created.request.trace_parent)
            run.recorded = above is None or above.sampled
        run.add(events if run.recorded else events[:1])
        return run

    def _end(self, run_id: str, run: RunSpans | None) -> None:
        if len(self._ended) >= MAX_ENDED:
            self._dropped += 1
            return
        self._ended.append((run_id, run))
        if run is not None:
            run.take()
            self._waiting_spans += run.count
        self._news.set()

    async def _export(self) -> None:
        """Exports the spans of the ended runs. Runs whose export is cancelled are exported by the next call, perhaps again: spans have
        their ids."""
        batch: list[bytes] = []
        runs: list[tuple[str, RunSpans | None]] = []
        count = 0
        try:
            while self._ended:
                runs.append(self._ended.popleft())
                try:
                    spans, more = await self._trace(*runs[-1])
                except AeondError:  # the journal cannot be read: it says so itself
                    self._dropped += 1
                else:
                    batch.append(spans)
                    count += more
                if count >= BATCH_SPANS or (count and not self._ended):
                    taken = await self._exporter.export(batch, count)
                    self._exported += taken
                    self._dropped += count - taken
                    batch, runs, count = [], [], 0
        except anyio.get_cancelled_exc_class():
            self._ended.extendleft(reversed(runs))
            raise
        self._waiting_spans = 0

    async def _trace(self, run_id: str, run: RunSpans | None) -> tuple[bytes, int]:
        """The spans of an ended run and their number; none if the client does not record its trace."""
        if run is None:
            run = await self._read(run_id)
        root, parent = run, b""
        for _ in range(MAX_ANCESTORS):
            if not root.parent_run_id:
                break
            parent = parent or span_id(run_id, "caller")
            root = self._runs.get(root.parent_run_id) or await self._created(root.parent_run_id)
        above = root.trace_parent
        if above is not None and not above.sampled:
            return b"", 0
        self._dropped += run.dropped
        if above is None:
            return run.encoded(trace_id(root.run_id), parent), run.count
        return run.encoded(above.trace_id, parent or above.span_id), run.count

    async def _created(self, run_id: str) -> RunSpans:
        """A run of which only the beginning is known."""
        run = self._spans_of(run_id)
        run.add(await self._journal.read(run_id, 0, 1))
        return run

    async def _read(self, run_id: str) -> RunSpans:
        run, seq = self._spans_of(run_id), 0
        while events := await self._journal.read(run_id, seq):
            run.add(events)
            seq = events[-1].seq
        return run

    def _spans_of(self, run_id: str) -> RunSpans:
        return RunSpans(run_id, self._model, self._provider)
