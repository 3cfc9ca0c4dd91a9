"""aeond with metrics and traces, beside aeond without them: chains of both in turn, in one process.

As in `aeond_in_process.py` the caller is in the daemon's own process. The traces go to a collector in another process,
that takes them and does nothing else. Prints the seconds of a step of each chain: without, with metrics, with both, again
and again.
usage: aeond_observed.py {compute|write} FOLDER CHAINS
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
from aeond.daemon.notify import Silence
from aeond.server.calls import RunCalls
from benchmarks.contenders.aeond_in_process import STEPS, chain_of_ten, run_chain
from benchmarks.daemon import write_config
from tests.support.otlp_collector import collecting

# A run's traces are sent while the next one goes on: the cost is that of several in a row, and the last ones are sent
# before the turn of the next daemon.
IN_A_ROW = 6
SETTLE_SECONDS = 0.05
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


async def measure(kind: str, folder: Path, chains: int, endpoint: str) -> list[float]:
    """Seconds per step for each of the chains; they are thrice as many."""
    off, on = METRICS.format(metrics="false"), METRICS.format(metrics="true")
    kinds = {"off": off, "metrics": on, "both": on + TRACES.format(endpoint=json.dumps(endpoint))}
    plan, seconds = chain_of_ten(kind), []
    async with AsyncExitStack() as stack:
        daemons = [
            await stack.enter_async_context(_daemon(folder / name, more)) for name, more in kinds.items()
        ]
        for _ in range(chains):
            for runs in daemons:
                begun = perf_counter()
                for _ in range(IN_A_ROW):
                    await run_chain(runs, plan)
                seconds.append((perf_counter() - begun) / STEPS / IN_A_ROW)
                await anyio.sleep(SETTLE_SECONDS)
    return seconds


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
