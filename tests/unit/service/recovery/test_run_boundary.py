"""The run boundary."""

from pathlib import Path

import anyio
import pytest

from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.ports import ProgressSink
from tests.support.service_world import ONE_STEP, World, asking


async def test_a_bug_ends_its_run_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A run whose own code breaks ends FAILED under an error id that the log has; others go on."""

    class Broken:
        async def draft(self, snapshot: RunSnapshot, grant: object, on_progress: ProgressSink) -> object:
            raise ZeroDivisionError("a bug")

    world = World(tmp_path)
    world.planner = Broken()  # type: ignore[assignment]  # it breaks, which no planner is allowed to
    async with world.working():
        broken = await world.runs.create(asking("plan this"), None, BudgetRequest())
        whole = await world.runs.create(asking(), ONE_STEP, BudgetRequest())
        with anyio.fail_after(60):
            failed = await world.ended(broken.run_id)
            assert (await world.ended(whole.run_id)).state is RunState.SUCCEEDED
    assert failed.state is RunState.FAILED
    assert failed.problem is not None
    assert failed.problem.reason == "INTERNAL"
    (record,) = [record for record in caplog.records if record.exc_info]
    assert vars(record)["run_id"] == broken.run_id
    assert vars(record)["error_id"] in failed.problem.message
