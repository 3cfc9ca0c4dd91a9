"""Makes the traces of ended runs and exports them."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import anyio

from aeond.domain.runs import events as e
from aeond.errors import AeondError
from aeond.observability.families import Export
from aeond.observability.traces.run_spans import RunSpans
from aeond.observability.traces.span_ids import place_of, trace_id
from aeond.ports import Clock, Journal
from aeond.trace_context import TraceParent

MAX_RUNS: Final = 512  # whose spans are collected while they work; others are read from the journal
MAX_ENDED: Final = 512
MANY_ENDED: Final = MAX_ENDED // 4  # are exported at once
BATCH_SPANS: Final = 2_048  # about 400 kB; with the spans of one more run 1.3 MB, and a collector takes 4
GATHER_SECONDS: Final = 5  # short runs share a request
FLUSH_SECONDS: Final = 2.0
MAX_ANCESTORS: Final = 16
_Spans = tuple[bytes, int]  # encoded as fields of ScopeSpans, and their number
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
        self._ended: deque[tuple[str, _Spans | None]] = deque()  # None: they are made of the journal
        self._news = anyio.Event()
        self._waiting_spans = 0  # of ended runs; those of a run that the journal is read for do not count
        self._exported = 0
        self._dropped = 0

    @property
    def counts(self) -> Export:
        return Export(self._exported, self._dropped)

    def hear(self, events: Sequence[e.Event]) -> None:
        """Takes events of one run that were published together."""
        first = events[0]
        run = self._runs.get(first.run_id)
        if run is None and isinstance(first.kind, e.RunCreated):
            run = self._begun(first.run_id, first.kind)
        if run is not None and run.above.sampled:
            run.add(events)
        if not _LEAVING.isdisjoint([type(event.kind) for event in events]):
            self._runs.pop(first.run_id, None)
        if type(events[-1].kind) is e.RunEnded and (run is None or run.above.sampled):
            self._end(first.run_id, run)

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

    def _begun(self, run_id: str, created: e.RunCreated) -> RunSpans | None:
        """Collects the spans of a run from now on, if there is room and it is known whose trace they belong to."""
        parent = created.ancestry.parent_run_id
        caller = self._runs.get(parent)
        if len(self._runs) >= MAX_RUNS or (parent and caller is None):
            return None
        above = place_of(run_id, created, None if caller is None else caller.above)
        run = self._runs[run_id] = self._spans_of(run_id, above)
        return run

    def _end(self, run_id: str, run: RunSpans | None) -> None:
        if len(self._ended) >= MAX_ENDED:
            self._dropped += 1
            return
        self._ended.append((run_id, None if run is None else (run.take(), run.count)))
        if run is not None:
            self._dropped += run.dropped
            self._waiting_spans += run.count
        self._news.set()

    async def _export(self) -> None:
        """Exports the spans of the ended runs. Runs whose export is cancelled are exported by the next call, perhaps again: spans have
        their ids."""
        batch: list[bytes] = []
        runs: list[tuple[str, _Spans | None]] = []
        count = dropped = 0  # of `runs`: what is dropped counts once its request has an end
        try:
            while self._ended:
                runs.append(self._ended.popleft())
                run_id, ended = runs[-1]
                try:
                    spans, more, lost = (*ended, 0) if ended else await self._read(run_id)
                except AeondError:  # the journal cannot be read: it says so itself
                    dropped += 1
                else:
                    batch.append(spans)
                    count, dropped = count + more, dropped + lost
                if count >= BATCH_SPANS or (count and not self._ended):
                    taken = await self._exporter.export(batch, count)
                    self._exported += taken
                    self._dropped += dropped + count - taken
                    batch, runs, count, dropped = [], [], 0, 0
        except anyio.get_cancelled_exc_class():
            self._ended.extendleft(reversed(runs))
            raise
        self._dropped += dropped
        self._waiting_spans = 0

    async def _read(self, run_id: str) -> tuple[bytes, int, int]:
        """The spans of an ended run by the journal, their number, and that of dropped ones; none if the client does not record its trace."""
        run, seq = self._spans_of(run_id, await self._place(run_id)), 0
        while run.above.sampled and (events := await self._journal.read(run_id, seq)):
            run.add(events)
            seq = events[-1].seq
        return run.take(), run.count, run.dropped

    async def _place(self, run_id: str, ancestors: int = MAX_ANCESTORS) -> TraceParent:
        """Where a run belongs, by the journal for those that are not here."""
        if run := self._runs.get(run_id):
            return run.above
        first = [event.kind for event in await self._journal.read(run_id, 0, 1)]
        if not first or not isinstance(first[0], e.RunCreated):
            return TraceParent(trace_id(run_id), b"", sampled=True)  # it has been deleted
        parent = first[0].ancestry.parent_run_id
        caller = await self._place(parent, ancestors - 1) if parent and ancestors else None
        return place_of(run_id, first[0], caller)

    def _spans_of(self, run_id: str, above: TraceParent) -> RunSpans:
        return RunSpans(run_id, above, self._model, self._provider)
