"""aeond with metrics and traces, beside aeond without them: chains of four daemons in turn, each in a process of its own.

As in `aeond_in_process.py` the caller is in the daemon's process. The traces go to a collector in another process. Prints for
each block of turns the seconds of a step without metrics and traces, then the seconds of processor time that the process
took for a step: without, with metrics, with traces, with both. Again and again.
usage: aeond_observed.py {compute|write} FOLDER BLOCKS
"""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from time import perf_counter, process_time

import anyio
import anyio.to_thread

from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose.daemon import composed
from aeond.daemon.config.files import load_config
from aeond.daemon.config.paths import paths_of
from aeond.daemon.config.reloading import LiveConfig
from aeond.daemon.lifecycle.footprint import settle
from aeond.daemon.notify import Silence
from aeond.server.calls import RunCalls
from benchmarks.contenders.aeond_in_process import STEPS, chain_of_ten, run_chain
from benchmarks.daemon import write_config
from tests.support.otlp_collector import collecting

# A request that is full of spans has those of four turns.
IN_A_ROW = 24
TURNS = 6  # of each daemon in a block
METRICS = "\n[metrics]\nenabled = {metrics}\n"
TRACES = "\n[traces]\nendpoint = {endpoint}\n"
WAYS = ("off", "metrics", "traces", "both")


@asynccontextmanager
async def daemon_of(folder: Path, more: str) -> AsyncIterator[RunCalls]:
    """A daemon in this process, with more in its configuration."""
    folder.mkdir()
    file = write_config(folder)
    file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")
    config = load_config(file, required=True)
    paths = paths_of(config, file)
    paths.make()
    live = LiveConfig(config, lambda: config, Silence(), SystemClock())
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


async def _take_turns(kind: str, way: str, folder: Path, endpoint: str) -> None:
    """A turn for each line of input. Prints its seconds, and those of the processor since the last turn ended: what is
    sent after a turn counts, too."""
    plan = chain_of_ten(kind)
    async with daemon_of(folder / way, _configuration(way, endpoint)) as runs:
        settle()
        before = process_time()
        while await anyio.to_thread.run_sync(sys.stdin.readline):
            begun = perf_counter()
            for _ in range(IN_A_ROW):
                await run_chain(runs, plan)
            ended, now = perf_counter(), process_time()
            print(json.dumps((ended - begun, now - before)), flush=True)
            before = now


def _measure(kind: str, folder: Path, blocks: int) -> list[float]:
    with ExitStack() as stack:
        endpoint = stack.enter_context(_program("collect"))[1]
        daemons = [
            stack.enter_context(_program("daemon", kind, way, str(folder), endpoint))[0] for way in WAYS
        ]
        found: list[float] = []
        for _ in range(blocks):
            turns = [[_turn(daemon) for daemon in daemons] for _ in range(TURNS)]
            steps = TURNS * IN_A_ROW * STEPS
            found.append(sum(turn[0][0] for turn in turns) / steps)
            found.extend(sum(turn[way][1] for turn in turns) / steps for way in range(len(WAYS)))
        return found


def _turn(daemon: "subprocess.Popen[str]") -> tuple[float, float]:
    assert daemon.stdin is not None
    assert daemon.stdout is not None
    daemon.stdin.write("go\n")
    daemon.stdin.flush()
    seconds, of_processor = json.loads(daemon.stdout.readline())
    return seconds, of_processor


@contextmanager
def _program(*arguments: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """This program in another process, and the first line that it prints. It ends at the end of its input."""
    command = [sys.executable, __file__, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        try:
            yield program, program.stdout.readline().strip()
        finally:
            program.communicate(timeout=30)


async def _collect() -> None:
    async with collecting() as collector:
        print(collector.endpoint, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)


async def _daemon(kind: str, way: str, folder: Path, endpoint: str) -> None:
    print("ready", flush=True)
    await _take_turns(kind, way, folder, endpoint)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["collect"]:
            anyio.run(_collect)
        case ["daemon", kind, way, place, endpoint]:
            anyio.run(_daemon, kind, way, Path(place), endpoint)
        case [kind, place, count]:
            print(json.dumps(_measure(kind, Path(place), int(count))))
        case _:
            sys.exit(__doc__)
