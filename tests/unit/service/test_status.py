"""The daemon's own state."""

from pathlib import Path

import anyio

from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM
from aeond.capabilities.llm.external.scripted_engine import ScriptedEngine
from aeond.domain.daemons import ConfigChanges, DaemonState
from aeond.domain.llm import EngineSnapshot, EngineState
from aeond.domain.runs.budgets import BudgetRequest
from aeond.service.runs.run_queue import RunLimits
from aeond.service.status import Process, Status
from tests.support.doubles import ScriptedTool
from tests.support.service_world import ONE_STEP, ScriptedRegistry, World, asking


class DeadEngine(ScriptedEngine):
    """An engine that does not come up."""

    def snapshot(self) -> EngineSnapshot:
        return EngineSnapshot(EngineState.DEAD, "a-model", error="it was killed")


def status_of(world: World, engine: type[ScriptedEngine] = ScriptedEngine) -> Status:
    return Status(
        process=Process("1.2.3", 42, lambda: 50_000_000),
        admission=world.admission,
        scheduler=world.scheduler,
        engine=engine(ScriptedLLM(Script()), world.clock),
        registry=ScriptedRegistry(ScriptedTool("a"), ScriptedTool("b")),
        clock=world.clock,
        reload=lambda: ConfigChanges(("log.level",)),
    )


async def test_the_state_follows_the_daemon_s_life(tmp_path: Path) -> None:
    """A daemon says STARTING, READY and DRAINING as it goes, and nothing more while all is well."""
    world = World(tmp_path)
    status = status_of(world)
    assert (await status.status()).state is DaemonState.STARTING
    async with world.working():
        ready = await status.status()
        assert (ready.state, list(ready.messages)) == (DaemonState.READY, [])
        await world.scheduler.drain(0)
        assert (await status.status()).state is DaemonState.DRAINING


async def test_the_facts_of_the_process_are_reported(tmp_path: Path) -> None:
    """Version, process, memory, tools and uptime are those of this daemon."""
    world = World(tmp_path)
    status = status_of(world)
    world.clock.advance(5)
    report = await status.status()
    assert (report.version, report.pid, report.resident_bytes, report.tool_count) == (
        "1.2.3",
        42,
        50_000_000,
        2,
    )
    assert (report.started_time, report.uptime_seconds) == (1_000.0, 5.0)


async def test_the_load_is_reported(tmp_path: Path) -> None:
    """Runs that work and runs that wait are counted beside their bounds."""
    world = World(tmp_path, limits=RunLimits(running=1, waiting=8))
    world.planner.gate = anyio.Event()
    async with world.working():
        await world.runs.create(asking(), None, BudgetRequest())
        with anyio.fail_after(60):
            await world.planner.started.wait()
        await world.runs.create(asking(), ONE_STEP, BudgetRequest())
        load = (await status_of(world).status()).load
    assert (load.running_runs, load.waiting_runs, load.attention_runs) == (1, 1, 0)
    assert (load.max_running_runs, load.max_waiting_runs) == (1, 8)


async def test_a_dead_engine_degrades_the_daemon(tmp_path: Path) -> None:
    """A daemon without its engine still serves, and says what is wrong."""
    async with World(tmp_path).working() as world:
        report = await status_of(world, DeadEngine).status()
    assert report.state is DaemonState.DEGRADED
    (message,) = report.messages
    assert "it was killed" in message


async def test_a_reload_is_passed_on(tmp_path: Path) -> None:
    """The result of a configuration reload is returned to the caller."""
    assert await status_of(World(tmp_path)).reload() == ConfigChanges(("log.level",))
