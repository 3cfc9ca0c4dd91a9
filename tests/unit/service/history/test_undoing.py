"""Undoing a run together with the runs that it started."""

from pathlib import Path

import pytest

from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.run import RunState
from aeond.errors import NotFoundError, WrongStateError
from aeond.service.history.undoing import RunUndo
from tests.support.service_world import CALLER, asking
from tests.support.trees import plan, starting, tree_world


async def test_an_ended_run_is_undone_with_the_runs_below(tmp_path: Path) -> None:
    """The changes of a run and of the runs that it started at every depth are taken back, and no others."""
    async with tree_world(tmp_path, {"deep": starting("leaf")}).working() as world:
        run_ids = []
        for planned in (starting("deep"), plan("work")):
            run = await world.runs.create(asking(), planned, BudgetRequest())
            run_ids.append((await world.ended(run.run_id)).run_id)
        report = await RunUndo(world.journal, world.folding, world.undo).undo(run_ids[0])
        every = await world.journal.list_runs()
    (owners,) = world.undo.asked
    assert owners[0] == run_ids[0]
    assert set(owners) == {summary.run_id for summary in every} - {run_ids[1]}
    assert len(owners) == 3
    assert [one.target for one in report.undone] == ["a.txt"]


async def test_only_ended_runs_are_undone(tmp_path: Path) -> None:
    """A run that has not ended is not undone, nor is one that does not exist; once it has ended, it is."""
    async with tree_world(tmp_path).working() as world:
        run = await world.runs.create(asking(), plan("ask"), BudgetRequest())
        await world.reached(run.run_id, RunState.AWAITING_INPUT)
        with pytest.raises(WrongStateError) as refused:
            await world.runs.undo(run.run_id, CALLER)
        assert refused.value.reason == "RUN_NOT_ENDED"
        with pytest.raises(NotFoundError):
            await world.runs.undo("none", CALLER)
        assert world.undo.asked == []
        await world.runs.answer(run.run_id, "", "red", CALLER)
        await world.ended(run.run_id)
        await world.runs.undo(run.run_id, CALLER)
    assert world.undo.asked == [(run.run_id,)]
