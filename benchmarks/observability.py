"""The cost of metrics and traces for a step: the time that their listeners take for its events."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import anyio
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.domain.runs.events import Event
from aeond.observability.run_counts import RunCounts
from aeond.observability.run_spans import RunSpans
from benchmarks.chains import AEOND, WRITING
from benchmarks.contenders.aeond_in_process import STEPS
from benchmarks.contenders.aeond_in_process import measure as run_chains
from benchmarks.measuring import Sample, in_turns
from benchmarks.page import Section, verdict

ROUNDS = 3
TURNS = 61
CHAINS_A_TURN = 10
MOST_PERCENT = 3.0
KINDS = {"write": (WRITING, "a step that writes a file"), "compute": (AEOND, "a step that only computes")}


def measure(folder: Path) -> Section:
    """Microseconds of listeners a step, and their share of the step."""
    turns = in_turns((WRITING, AEOND), ROUNDS, folder)
    rows: list[tuple[str, ...]] = []
    for kind, (contender, name) in KINDS.items():
        events = _events(kind, folder / kind)
        step = turns.whole(contender.name).median
        listeners = {
            "counted for metrics": _timed(partial(_count, events)),
            "made into spans for traces, and encoded": _timed(partial(_trace, events)),
        }
        for words, sample in listeners.items():
            percent = sample.median / step * 100
            rows.append(
                (
                    f"{name}, {words}",
                    f"{sample.median * 1e6:.1f} us",
                    f"{sample.fastest_tenth * 1e6:.1f} us",
                    f"{percent:.1f}%",
                    verdict(percent, at_most=MOST_PERCENT, unit="%"),
                )
            )
    return Section(
        "Observability",
        f"The events of a chain of {STEPS} steps, read from its journal and passed to the listeners {TURNS} times, divided by"
        f" {STEPS}; the share is that of a step of the same chain in the daemon's own process, measured just before. Off,"
        " there are no listeners. Spans are made when a step ends and encoded when the run has ended.",
        ("what", "a step", "undisturbed", "of the step", "aim"),
        tuple(rows),
    )


def _events(kind: str, folder: Path) -> Sequence[Event]:
    """The journaled events of one chain."""
    folder.mkdir()

    async def events() -> Sequence[Event]:
        await run_chains(kind, folder, 1)
        async with SqliteJournal(folder / "state" / "journal.db") as journal:
            (run,) = await journal.list_runs()
            return await journal.read(run.run_id)

    return anyio.run(events)


def _timed(work: Callable[[], object]) -> Sample:
    return Sample(tuple(_turn(work) for _ in range(TURNS)))


def _turn(work: Callable[[], object]) -> float:
    begun = perf_counter()
    for _ in range(CHAINS_A_TURN):
        work()
    return (perf_counter() - begun) / CHAINS_A_TURN / STEPS


def _count(events: Sequence[Event]) -> None:
    counts = RunCounts()
    for event in events:
        counts.hear((event,))


def _trace(events: Sequence[Event]) -> None:
    run = RunSpans(events[0].run_id, "model", "engine")
    for event in events:
        run.add(event)
    spans = ScopeSpans(spans=run.spans(b"t" * 16))
    ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[spans])]).SerializeToString()
