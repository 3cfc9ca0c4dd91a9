"""aeond: the same chain of ten steps with the caller in the daemon's own process, as the others have it.

Everything but the socket is there: validation, scheduler, journal, events to whoever watches, and only
after they are on disk.
usage: aeond_in_process.py FOLDER CHAINS
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import anyio

from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose import composed
from aeond.daemon.config_files import load_config
from aeond.daemon.footprint import settle
from aeond.daemon.notify import Silence
from aeond.daemon.paths import paths_of
from aeond.daemon.reloading import LiveConfig
from aeond.domain.budgets import BudgetRequest
from aeond.domain.events import Event, RunEnded, StepEnded
from aeond.domain.plans import Plan, PlanStep
from aeond.domain.runs import RunRequest, RunState
from aeond.domain.tools import ToolCall
from aeond.server.calls import RunCalls
from benchmarks.daemon import write_config

STEPS = 10
CHAIN_SECONDS = 30.0


def chain_of_ten() -> Plan:
    """Each step says what the one before it said."""
    return Plan(
        "say hello ten times",
        tuple(
            PlanStep(
                f"s{number}",
                "Say it again.",
                tool_call=ToolCall("echo", {"text": "hello" if number == 1 else f"$s{number - 1}.text"}),
                depends_on=() if number == 1 else (f"s{number - 1}",),
            )
            for number in range(1, STEPS + 1)
        ),
    )


async def run_chain(runs: RunCalls) -> None:
    """One run, watched to its end; fails unless all ten steps did their work."""
    with anyio.fail_after(CHAIN_SECONDS):
        created = await runs.create(RunRequest("chain"), chain_of_ten(), BudgetRequest())
        kinds = [
            item.kind
            async for batch in runs.watch(created.run_id, 0)
            for item in batch
            if isinstance(item, Event)
        ]
    said = [kind.output for kind in kinds if isinstance(kind, StepEnded)]
    if said != [{"text": "hello"}] * STEPS or kinds[-1] != RunEnded(RunState.SUCCEEDED):
        message = f"not the chain that was asked for: {said}, last event {kinds[-1]}"
        raise RuntimeError(message)


async def measure(folder: Path, chains: int) -> list[float]:
    """Seconds a step for each of the chains."""
    file = write_config(folder)
    config = load_config(file, required=True)
    paths = paths_of(config, file)
    paths.make()
    seconds = []
    live = LiveConfig(config, lambda: config, Silence(), SystemClock())
    async with composed(live, paths) as daemon:
        await daemon.scheduler.resume()
        daemon.admission.open()
        settle()  # as the daemon does when it is ready
        for _ in range(chains):
            begun = perf_counter()
            await run_chain(daemon.calls.runs)
            seconds.append((perf_counter() - begun) / STEPS)
        daemon.admission.drain()
        daemon.feed.close()
        await daemon.scheduler.drain(1.0)
    return seconds


if __name__ == "__main__":
    print(json.dumps(anyio.run(measure, Path(sys.argv[1]), int(sys.argv[2]))))
