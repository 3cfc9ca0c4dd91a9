"""aeond with metrics and traces, beside aeond without them: chains of both in turn, in one process.

As in `aeond_in_process.py` the caller is in the daemon's own process. The traces go to a collector in another process,
that takes them and does nothing else. Prints the seconds of a step of each turn: without, with metrics, with traces, with both,
again and again.
usage: aeond_observed.py {compute|write} FOLDER TURNS
"""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from time import perf_counter

import anyio
import anyio.to_thread

from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose.daemon import composed
from aeond.daemon.config.files import load_config
from aeond.daemon.config.paths import paths_of
from aeond.daemon.config.reloading import LiveConfig
from aeond.daemon.lifecycle.footprint import settle
from aeond.daemon.notify import Silence
from aeond.domain.plans.plan import Plan
from aeond.server.calls import RunCalls
from benchmarks.contenders.aeond_in_process import STEPS, chain_of_ten, run_chain
from benchmarks.daemon import write_config
from tests.support.otlp_collector import collecting

# The traces of runs are sent together, half a second after the first of them ended: a turn is long enough for that to be
# a part of it, and the last ones are sent before the turn of the next daemon.
TURN_SECONDS = 0.8
SETTLE_SECONDS = 0.7
METRICS = "\n[metrics]\nenabled = {metrics}\n"
TRACES = "\n[traces]\nendpoint = {endpoint}\n"


@asynccontextmanager
async def _daemon(folder: Path, more: str) -> AsyncIterator[RunCalls]:
    folder.mkdir()
    file = write_config(folder)
    file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")
    config = load_config(file, required=True)
    paths = paths_of(config, file)
    paths.make()
    live = LiveConfig(config, lambda: config, Silence(), SystemClock())
    async with composed(live, paths) as daemon:
        await daemon.scheduler.resume()
        daemon.admission.open()
        yield daemon.calls.runs
        daemon.admission.drain()
        daemon.feed.close()
        await daemon.scheduler.drain(1.0)


async def measure(kind: str, folder: Path, turns: int, endpoint: str) -> list[float]:
    """Seconds per step for each of the turns; they are four times as many."""
    off, on = METRICS.format(metrics="false"), METRICS.format(metrics="true")
    traces = TRACES.format(endpoint=json.dumps(endpoint))
    kinds = {"off": off, "metrics": on, "traces": off + traces, "both": on + traces}
    plan, seconds = chain_of_ten(kind), []
    async with AsyncExitStack() as stack:
        daemons = [
            await stack.enter_async_context(_daemon(folder / name, more)) for name, more in kinds.items()
        ]
        settle()
        for _ in range(turns):
            for runs in daemons:
                seconds.append(await _turn(runs, plan))
                await anyio.sleep(SETTLE_SECONDS)
    return seconds


async def _turn(runs: RunCalls, plan: Plan) -> float:
    """Seconds per step of chains one after another."""
    begun, steps = perf_counter(), 0
    while perf_counter() - begun < TURN_SECONDS:
        await run_chain(runs, plan)
        steps += STEPS
    return (perf_counter() - begun) / steps


@contextmanager
def _collector() -> Iterator[str]:
    """A collector in another process; its endpoint."""
    with subprocess.Popen(
        [sys.executable, __file__, "collect"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
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
    if sys.argv[1] == "collect":
        anyio.run(_collect)
    else:
        with _collector() as endpoint:
            print(json.dumps(anyio.run(measure, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), endpoint)))
