"""aeond: a chain of ten steps with the caller in the daemon's own process, as the others have it.

Everything but the socket is there: validation, scheduler, journal, events to whoever watches, and only
after they are on disk. `compute` is what the others do, steps that compute; `write` is ten steps that
each write a file, where the intent of each is on disk before it begins.
usage: aeond_in_process.py {compute|write} FOLDER CHAINS
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import anyio

from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose import composed
from aeond.daemon.config_files import load_config
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

# For each kind: the tool, its first argument, what each step hands to the next, and what all are given.
CHAINS: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "compute": ("echo", "hello", "text", {}),
    "write": ("write_file", "note.txt", "path", {"content": "hello"}),
}


def chain_of_ten(kind: str = "compute") -> Plan:
    """Each step says what the one before it said, or writes where the one before it wrote."""
    tool, first, again, more = CHAINS[kind]
    return Plan(
        "do it ten times",
        tuple(
            PlanStep(
                f"s{number}",
                "Do it again.",
                tool_call=ToolCall(
                    tool, {again: first if number == 1 else f"$s{number - 1}.{again}", **more}
                ),
                depends_on=() if number == 1 else (f"s{number - 1}",),
            )
            for number in range(1, STEPS + 1)
        ),
    )


async def run_chain(runs: RunCalls, plan: Plan) -> None:
    """One run, watched to its end; fails unless all ten steps did their work."""
    with anyio.fail_after(CHAIN_SECONDS):
        created = await runs.create(RunRequest("chain"), plan, BudgetRequest())
        kinds = [
            item.kind
            async for batch in runs.watch(created.run_id, 0)
            for item in batch
            if isinstance(item, Event)
        ]
    said = [kind.output for kind in kinds if isinstance(kind, StepEnded)]
    if (
        len(said) != STEPS
        or not all(said)
        or said != said[:1] * STEPS
        or kinds[-1] != RunEnded(RunState.SUCCEEDED)
    ):
        message = f"not the chain that was asked for: {said}, last event {kinds[-1]}"
        raise RuntimeError(message)


async def measure(kind: str, folder: Path, chains: int) -> list[float]:
    """Seconds a step for each of the chains."""
    file = write_config(folder)
    config = load_config(file, required=True)
    paths = paths_of(config, file)
    paths.make()
    seconds, plan = [], chain_of_ten(kind)
    live = LiveConfig(config, lambda: config, Silence(), SystemClock())
    async with composed(live, paths) as daemon:
        await daemon.scheduler.resume()
        daemon.admission.open()
        for _ in range(chains):
            begun = perf_counter()
            await run_chain(daemon.calls.runs, plan)
            seconds.append((perf_counter() - begun) / STEPS)
        daemon.admission.drain()
        daemon.feed.close()
        await daemon.scheduler.drain(1.0)
    return seconds


if __name__ == "__main__":
    print(json.dumps(anyio.run(measure, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))
