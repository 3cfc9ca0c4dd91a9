"""aeond with metrics and traces, beside aeond without them: one daemon that in turn hears no event, and all.

As in `aeond_in_process.py` the caller is in the daemon's process. The traces go to a collector in another process. Prints for
each block of turns the seconds of a step without metrics and traces, then the seconds of processor time that the process
took for a step, without and with them. Again and again.
usage: aeond_observed.py {compute|write} {metrics|traces|both} FOLDER BLOCKS
"""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import fmean
from time import perf_counter, process_time

import anyio
import anyio.to_thread

from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose.daemon import composed
from aeond.daemon.config.files import load_config
from aeond.daemon.config.paths import paths_of
from aeond.daemon.config.reloading import LiveConfig
from aeond.daemon.lifecycle.footprint import settle
from aeond.daemon.notify import Notifier
from aeond.domain.runs.events import Event
from aeond.observability.run_counts import RunCounts
from aeond.observability.timed_journal import TimedJournal
from aeond.observability.traces.tracing import Tracing
from aeond.server.calls import RunCalls
from benchmarks.contenders.aeond_in_process import STEPS, chain_of_ten, run_chain
from benchmarks.daemon import write_config
from tests.support.otlp_collector import collecting

IN_A_ROW = 48  # chains of a turn: a request that is full of spans has those of two
# Without, with, with, without: what changes evenly over time cancels out.
BLOCK = (False, True, True, False)
METRICS = "\n[metrics]\nenabled = {metrics}\n"
TRACES = "\n[traces]\nendpoint = {endpoint}\n"
WAYS = ("metrics", "traces", "both")


class Watch:
    """Lets metrics and traces of this process hear events, or not. The export that traces put off is done by `export`."""

    def __init__(self) -> None:
        self.on = True
        self._counts: RunCounts | None = None
        self._traces: Tracing | None = None

    def install(self) -> None:
        """Takes part in each daemon that is composed from now on."""
        count, trace, append = RunCounts.hear, Tracing.hear, TimedJournal.append

        def counting(counts: RunCounts, events: Sequence[Event]) -> None:
            if self.on:
                count(counts, events)

        def tracing(traces: Tracing, events: Sequence[Event]) -> None:
            self._traces = traces
            if self.on:
                trace(traces, events)

        async def appending(journal: TimedJournal, events: Sequence[Event]) -> None:
            untimed = journal._append  # noqa: SLF001 - what it times
            await (append(journal, events) if self.on else untimed(events))

        async def exporting(_traces: Tracing) -> None:
            await anyio.sleep_forever()

        for place, name, changed in (
            (RunCounts, "hear", counting),
            (Tracing, "hear", tracing),
            (Tracing, "run", exporting),
            (TimedJournal, "append", appending),
        ):
            setattr(place, name, changed)

    async def export(self) -> None:
        """Exports what was heard. RuntimeError if spans were lost."""
        if self._traces is not None:
            await self._traces._export()  # noqa: SLF001 - at once, so that it is part of the turn
            if self._traces.counts.dropped or not self._traces.counts.exported:
                raise RuntimeError(f"spans were not exported: {self._traces.counts}")


@asynccontextmanager
async def daemon_of(folder: Path, more: str) -> AsyncIterator[RunCalls]:
    """A daemon in this process, with more in its configuration."""
    folder.mkdir()
    file = write_config(folder)
    file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")
    config = load_config(file, required=True)
    paths = paths_of(config, file)
    paths.make()
    live = LiveConfig(config, lambda: config, Notifier(), SystemClock())
    async with composed(live, paths) as daemon:
        await daemon.scheduler.resume()
        async with daemon.api.opened():  # without it, the library's threads would be those of traces alone
            daemon.admission.open()
            yield daemon.calls.runs
            daemon.admission.drain()
        daemon.feed.close()
        await daemon.scheduler.drain(1.0)


def _configuration(way: str, endpoint: str) -> str:
    metrics = METRICS.format(metrics="true" if way in ("metrics", "both") else "false")
    return metrics + (TRACES.format(endpoint=json.dumps(endpoint)) if way in ("traces", "both") else "")


async def _measure(kind: str, way: str, folder: Path, blocks: int, endpoint: str) -> list[float]:
    plan, watch, found = chain_of_ten(kind), Watch(), []
    watch.install()
    steps = STEPS * IN_A_ROW
    async with daemon_of(folder / "daemon", _configuration(way, endpoint)) as runs:
        settle()
        for _ in range(blocks):
            turns: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
            for on in BLOCK:
                watch.on = on
                begun, before = perf_counter(), process_time()
                for _ in range(IN_A_ROW):
                    await run_chain(runs, plan)
                ended = perf_counter()
                if len(turns[True]) == 1 and watch.on:
                    await watch.export()
                turns[watch.on].append(((ended - begun) / steps, (process_time() - before) / steps))
            found.append(fmean(seconds for seconds, _ in turns[False]))
            found.extend(fmean(of_processor for _, of_processor in turns[on]) for on in (False, True))
    return found


@contextmanager
def _collector() -> Iterator[str]:
    """A collector in another process; yields its endpoint."""
    command = [sys.executable, __file__, "collect"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        try:
            yield program.stdout.readline().strip()
        finally:
            program.communicate(timeout=30)


async def _collect() -> None:
    async with collecting() as collector:
        print(collector.endpoint, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["collect"]:
            anyio.run(_collect)
        case [kind, way, place, count]:
            with _collector() as address:
                print(json.dumps(anyio.run(_measure, kind, way, Path(place), int(count), address)))
        case _:
            sys.exit(__doc__)
