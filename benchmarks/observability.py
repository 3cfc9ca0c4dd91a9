"""The cost of metrics and traces for a step: the time that their listeners take for its events."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import anyio

from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.daemon.clocks import SystemClock
from aeond.domain.runs.events import Event
from aeond.observability.run_counts import RunCounts
from aeond.observability.run_spans import RunSpans
from aeond.observability.span_exporter import SpanExporter
from benchmarks.chains import AEOND, WRITING
from benchmarks.contenders.aeond_in_process import STEPS
from benchmarks.contenders.aeond_in_process import measure as run_chains
from benchmarks.measuring import Sample
from benchmarks.page import Section, verdict

ROUNDS = 7
TURNS = 61
CHAINS_A_TURN = 10
MOST_PERCENT = 3.0
KINDS = {"write": (WRITING, "a step that writes a file"), "compute": (AEOND, "a step that only computes")}


def measure(folder: Path) -> Section:
    """Microseconds of listeners a step, and their share of the step."""
    exporter = SpanExporter("http://127.0.0.1:4317", "1", SystemClock())
    rows: list[tuple[str, ...]] = []
    for kind, (contender, name) in KINDS.items():
        events = _events(kind, folder / kind)
        listeners = {
            "counted for metrics": partial(_count, events),
            "made into spans for traces, and encoded": partial(_trace, exporter, events),
        }
        steps, costs = [], {words: list[Sample]() for words in listeners}
        for number in range(1, ROUNDS + 1):
            print(f"  round {number} of {ROUNDS}: {name}", flush=True)
            steps.append(Sample(tuple(contender.turn(folder))))
            for words, listener in listeners.items():
                costs[words].append(_timed(listener))
        for words, samples in costs.items():
            whole = _joined(samples)
            percent = whole.fastest_tenth / _joined(steps).fastest_tenth * 100
            rows.append(
                (
                    f"{name}, {words}",
                    f"{whole.median * 1e6:.1f} us",
                    f"{whole.fastest_tenth * 1e6:.1f} us",
                    f"{percent:.1f}%",
                    verdict(percent, at_most=MOST_PERCENT, unit="%"),
                )
            )
    return Section(
        "Observability",
        f"The events of a chain of {STEPS} steps, read from its journal and passed to the listeners {TURNS} times, divided by"
        f" {STEPS}, in {ROUNDS} rounds in alternation with the same chain in the daemon's own process. The share is that of a"
        " step of this chain, both undisturbed. Off, there are no listeners. Spans are encoded when a step ends.",
        ("what", "a step", "undisturbed", "of the step", "aim"),
        tuple(rows),
    )


def _joined(samples: Sequence[Sample]) -> Sample:
    return Sample(tuple(seconds for sample in samples for seconds in sample.seconds))


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


def _trace(exporter: SpanExporter, events: Sequence[Event]) -> None:
    run = RunSpans(events[0].run_id, "model", "engine")
    for event in events:
        run.add(event)
    exporter.request(run.spans(b"t" * 16))
