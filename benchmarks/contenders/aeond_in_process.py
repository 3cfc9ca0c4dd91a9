"""aeond: a chain of ten steps with the caller in the daemon's own process, as for the other systems.

Everything except the socket is included: validation, scheduler, journal, and events to watchers once they are
on disk. `compute` does the same as the others, steps that compute; `write` is ten steps that each write a
file, where the intent of each is on disk before it starts. With `alternating` each chain is followed by one about
whose calls no policy decides, and of which no change is recorded for undo.
usage: aeond_in_process.py {compute|write} [alternating] FOLDER CHAINS
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

import anyio

from aeond.capabilities.policy.authorising import PolicyAuthoriser
from aeond.capabilities.undo.sqlite_undo_log import SqliteUndoLog
from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose import daemon as daemon_parts
from aeond.daemon.compose.daemon import composed
from aeond.daemon.config.files import load_config
from aeond.daemon.config.paths import paths_of
from aeond.daemon.config.reloading import LiveConfig
from aeond.daemon.notify import Notifier
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import Event, RunEnded, StepEnded
from aeond.domain.runs.run import Caller, Owner, RunRequest, RunState
from aeond.domain.tools import ToolCall, ToolContext, ToolResult
from aeond.domain.undo import Change
from aeond.ports.policy import Decided
from aeond.server.calls import RunCalls
from benchmarks.daemon import write_config

STEPS = 10
CHAIN_SECONDS = 30.0

# For each kind: the tool, its first argument, the value passed to the next step, and the arguments of each step.
CHAINS: dict[str, tuple[str, str, str, Callable[[int], dict[str, str]]]] = {
    "compute": ("echo", "hello", "text", lambda _number: {}),
    "write": ("write_file", "note.txt", "path", lambda number: {"content": f"hello {number:02}"}),
}


def chain_of_ten(kind: str = "compute") -> Plan:
    """Each step echoes the output of the preceding one, or writes the file that it named."""
    tool, first, again, more = CHAINS[kind]
    return Plan(
        "do it ten times",
        tuple(
            PlanStep(
                f"s{number}",
                "Do it again.",
                tool_call=ToolCall(
                    tool, {again: first if number == 1 else f"$s{number - 1}.{again}", **more(number)}
                ),
                depends_on=() if number == 1 else (f"s{number - 1}",),
            )
            for number in range(1, STEPS + 1)
        ),
    )


def _again(ended: StepEnded) -> object:
    """The output without the part that differs between the first write and the others."""
    output = ended.output
    return {**output, "change": ""} if isinstance(output, Mapping) else output


async def run_chain(runs: RunCalls, plan: Plan) -> None:
    """One run, watched to its end; fails unless all ten steps succeed."""
    with anyio.fail_after(CHAIN_SECONDS):
        created = await runs.create(RunRequest("chain"), plan, BudgetRequest())
        kinds = [
            item.kind
            async for batch in runs.watch(created.run_id, 0, Caller(Owner(), is_admin=True))
            for item in batch
            if isinstance(item, Event)
        ]
    said = [_again(kind) for kind in kinds if isinstance(kind, StepEnded)]
    if (
        len(said) != STEPS
        or not all(said)
        or said != said[:1] * STEPS
        or kinds[-1] != RunEnded(RunState.SUCCEEDED)
    ):
        message = f"unexpected outputs: {said}, last event {kinds[-1]}"
        raise RuntimeError(message)


async def measure(
    kind: str, folder: Path, chains: int, before_chain: Callable[[int], None] = lambda _: None
) -> list[float]:
    """Seconds per step for each of the chains."""
    file = write_config(folder)
    config = load_config(file, required=True)
    paths = paths_of(config, file)
    paths.make()
    seconds, plan = [], chain_of_ten(kind)
    live = LiveConfig(config, lambda: config, Notifier(), SystemClock())
    async with composed(live, paths) as daemon:
        await daemon.scheduler.resume()
        daemon.admission.open()
        for number in range(chains):
            before_chain(number)
            begun = perf_counter()
            await run_chain(daemon.calls.runs, plan)
            seconds.append((perf_counter() - begun) / STEPS)
        daemon.admission.drain()
        daemon.feed.close()
        await daemon.scheduler.drain(1.0)
    return seconds


class Walls:
    """Policy and undo log, on for the chains with an even number and off for the others."""

    on = True

    @classmethod
    def switch(cls, chain: int) -> None:
        cls.on = chain % 2 == 0


class SwitchedAuthoriser(PolicyAuthoriser):
    """The Authoriser of the daemon, and none while the walls are off."""

    async def authorise(self, call: ToolCall, context: ToolContext, decided: Decided) -> ToolResult | None:
        return await super().authorise(call, context, decided) if Walls.on else None


class SwitchedUndoLog(SqliteUndoLog):
    """The undo log of the daemon, and none while the walls are off."""

    async def record(self, change: Change) -> None:
        if Walls.on:
            await super().record(change)

    def record_now(self, change: Change) -> None:
        if Walls.on:
            super().record_now(change)


if __name__ == "__main__":
    kind, *alternating, place, count = sys.argv[1:]
    if alternating:
        vars(daemon_parts).update(PolicyAuthoriser=SwitchedAuthoriser, SqliteUndoLog=SwitchedUndoLog)
    print(json.dumps(anyio.run(measure, kind, Path(place), int(count), Walls.switch)))
