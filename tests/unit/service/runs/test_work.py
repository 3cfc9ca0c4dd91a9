"""Work items of the scheduler."""

from pathlib import Path

from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import PassStarted, RunCreated, RunStarted
from aeond.domain.runs.run import RunState
from aeond.service.runs.run_queue import RunLimits
from tests.support.doubles import ScriptedTool
from tests.support.run_host import Gate
from tests.support.service_world import ONE_STEP, World, asking

NO_BOUNDS = BudgetRequest()


async def test_a_run_with_a_place_begins_as_it_is_created(tmp_path: Path) -> None:
    """A run that is worked on at once is RUNNING when it is durable; one that has to wait is PENDING until its
    turn comes; neither is taken for one that a crash cut."""
    gate = Gate()
    world = World(
        tmp_path, tools={"work": ScriptedTool("work", gate.pass_through)}, limits=RunLimits(running=1)
    )
    async with world.working():
        first = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        second = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        assert (first.state, second.state) == (RunState.RUNNING, RunState.PENDING)
        gate.open.set()
        for run_id in (first.run_id, second.run_id):
            ended = await world.ended(run_id)
            assert (ended.state, ended.crashes) == (RunState.SUCCEEDED, 0)
            kinds = [type(event.kind) for event in await world.journal.read(run_id)]
            assert kinds[:3] == [RunCreated, RunStarted, PassStarted]
