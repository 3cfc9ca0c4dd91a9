"""Deleting runs."""

from pathlib import Path

import pytest

from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.run import RunState
from aeond.domain.sessions import Session
from aeond.errors import NotFoundError, UnavailableError, WrongStateError
from aeond.ports.journal import RunFilter
from tests.support.service_world import CALLER, USER, asking
from tests.support.trees import plan, starting, tree_world


async def test_an_ended_run_is_deleted_with_the_runs_below(tmp_path: Path) -> None:
    """A deleted run is not found any more, nor are the runs that it started at every depth and its private workspace; other
    runs stay, and its request id is free.
    """
    async with tree_world(tmp_path, {"deep": starting("leaf")}).working() as world:
        kept = await world.ended((await world.runs.create(asking(), plan("work"), BudgetRequest())).run_id)
        run = await world.runs.create(asking(request_id="q"), starting("deep"), BudgetRequest())
        await world.ended(run.run_id)
        assert len(await world.journal.list_runs(RunFilter())) == 4
        folder = Path(run.workspace)
        (folder / "deep").mkdir()
        (folder / "deep" / "a.txt").write_text("x", encoding="utf-8")
        await world.runs.delete(run.run_id, CALLER)
        assert [left.run_id for left in await world.journal.list_runs(RunFilter())] == [kept.run_id]
        assert not folder.exists()
        assert Path(kept.workspace).is_dir()
        with pytest.raises(NotFoundError) as missing:
            await world.runs.delete(run.run_id, CALLER)
        assert missing.value.reason == "RUN_NOT_FOUND"
        again = await world.runs.create(asking(request_id="q"), plan("work"), BudgetRequest())
        assert again.run_id != run.run_id


async def test_only_ended_runs_are_deleted(tmp_path: Path) -> None:
    """A run that has not ended stays, and can be deleted once it was cancelled."""
    async with tree_world(tmp_path).working() as world:
        run = await world.runs.create(asking(), plan("ask"), BudgetRequest())
        await world.reached(run.run_id, RunState.AWAITING_INPUT)
        with pytest.raises(WrongStateError) as refused:
            await world.runs.delete(run.run_id, CALLER)
        assert refused.value.reason == "RUN_NOT_ENDED"
        await world.runs.cancel(run.run_id, CALLER, "")
        await world.ended(run.run_id)
        await world.runs.delete(run.run_id, CALLER)
        assert list(await world.journal.list_runs(RunFilter())) == []


async def test_a_part_of_another_run_is_deleted_with_it(tmp_path: Path) -> None:
    """A child run is not deleted alone, and the fork of a run takes no run along that the original started."""
    async with tree_world(tmp_path).working() as world:
        run = await world.ended((await world.runs.create(asking(), starting("leaf"), BudgetRequest())).run_id)
        (child,) = await world.journal.list_runs(RunFilter(parent_run_id=run.run_id))
        with pytest.raises(WrongStateError) as refused:
            await world.runs.delete(child.run_id, CALLER)
        assert refused.value.reason == "RUN_HAS_PARENT"
        assert run.run_id in refused.value.message
        started = [
            event.seq for event in await world.journal.read(run.run_id) if hasattr(event.kind, "child")
        ]
        fork = await world.runs.fork(ForkRequest(run.run_id, CALLER, after_seq=started[0]))
        await world.ended(fork.run_id)
        await world.runs.delete(fork.run_id, CALLER)
        left = {summary.run_id for summary in await world.journal.list_runs(RunFilter())}
        assert left == {run.run_id, child.run_id}


async def test_a_run_of_a_session_goes_after_it(tmp_path: Path) -> None:
    """A run stays while its session exists, which reads its answer and its taint, and is deleted afterwards."""
    async with tree_world(tmp_path).working() as world:
        await world.sessions.create(Session("s", uid=USER.uid), "")
        run = await world.runs.create(asking(session_id="s"), plan("work"), BudgetRequest())
        await world.ended(run.run_id)
        with pytest.raises(WrongStateError) as refused:
            await world.runs.delete(run.run_id, CALLER)
        assert refused.value.reason == "RUN_IN_SESSION"
        await world.records.settle("s")
        await world.sessions.delete("s")
        await world.runs.delete(run.run_id, CALLER)
        assert list(await world.journal.list_runs(RunFilter())) == []


async def test_a_stopping_daemon_deletes_nothing(tmp_path: Path) -> None:
    """While the daemon drains, deletions are refused."""
    async with tree_world(tmp_path).working() as world:
        run = await world.ended((await world.runs.create(asking(), plan("work"), BudgetRequest())).run_id)
        world.admission.drain()
        with pytest.raises(UnavailableError):
            await world.runs.delete(run.run_id, CALLER)
        assert await world.journal.summary(run.run_id) is not None
