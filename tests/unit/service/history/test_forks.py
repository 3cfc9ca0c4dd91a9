"""Forks, through the real kernel and scheduler."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.runs.budgets import Budget, BudgetRequest
from aeond.domain.runs.events import AnswerStarted, Event, PlanAdopted, PlanningFailed, RunStarted, StepEnded
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.domain.tools import ToolCall
from aeond.errors import InvalidInputError, RefusedError, WrongStateError
from aeond.ports import ProgressSink
from aeond.service.approvals.requests import ApprovalRules
from aeond.service.run_use_cases import Bounds
from tests.support.asking_policy import AskingPolicy
from tests.support.journals import all_events
from tests.support.service_world import CALLER, ONE_STEP, World, asking
from tests.support.trees import PlanByTopic, plan, tree_world

TWO_STEPS = Plan(
    "two steps",
    (
        PlanStep("s1", "do it", ToolCall("work", {"n": 1})),
        PlanStep("s2", "do more", ToolCall("work", {"n": 2}), depends_on=("s1",)),
    ),
)


async def past(world: World, steps: Plan = TWO_STEPS) -> list[Event]:
    """The events of a run that has ended."""
    run = await world.runs.create(asking(), steps, BudgetRequest())
    await world.ended(run.run_id)
    return await all_events(world.journal, run.run_id)


def seq_of(events: list[Event], kind: type) -> int:
    """The number of the first event of this kind."""
    return next(event.seq for event in events if isinstance(event.kind, kind))


async def test_copied_steps_are_not_executed_again(tmp_path: Path) -> None:
    """A fork behind the first step has its output and does the second one only, with the past's use counted."""
    async with World(tmp_path).working() as world:
        events = await past(world)
        calls = world.tools["work"].calls
        before = len(calls)
        run_id = events[0].run_id
        forked = await world.runs.fork(ForkRequest(run_id, CALLER, seq_of(events, StepEnded)))
        ended = await world.ended(forked.run_id)
        first = await world.runs.get(run_id, CALLER)
    assert [call.step_id for call in calls[before:]] == ["s2"]
    assert ended.state is RunState.SUCCEEDED
    assert [step.output for step in ended.steps.values()] == [step.output for step in first.steps.values()]
    assert (ended.ledger.used, ended.crashes) == (first.ledger.used, 0)


async def test_a_fork_costs_no_more_than_the_first_run_might(tmp_path: Path) -> None:
    """Other bounds are taken up to those of the run that is forked."""
    async with World(tmp_path).working() as world:
        events = await past(world)
        budget = BudgetRequest(ttl=1_000_000, passes=2)
        forked = await world.runs.fork(ForkRequest(events[0].run_id, CALLER, budget=budget))
        first = await world.runs.get(events[0].run_id, CALLER)
    assert (forked.bound.ttl, forked.bound.passes) == (first.bound.ttl, 2)


async def test_a_fork_costs_no_more_than_new_runs_may(tmp_path: Path) -> None:
    """A limit that was lowered since binds the fork of an older run; a past that cost more than it is refused."""
    async with World(tmp_path).working() as world:
        events = await past(world)
        run_id = events[0].run_id
        world.runs.adopt(Bounds(Budget(), Budget(ttl=5, wall_seconds=60.0)))
        forked = await world.runs.fork(ForkRequest(run_id, CALLER))
        assert (forked.bound.ttl, forked.bound.wall_seconds) == (5, 60.0)
        world.runs.adopt(Bounds(Budget(), Budget(ttl=1)))
        with pytest.raises(InvalidInputError, match="ttl") as refused:
            await world.runs.fork(ForkRequest(run_id, CALLER, seq_of(events, AnswerStarted)))
        assert refused.value.reason == "FORK_DOES_NOT_FIT"


async def test_a_fork_works_where_new_runs_may(tmp_path: Path) -> None:
    """The folder of an older run is no longer taken where the configuration forbids it, or when it is gone."""
    (there := tmp_path / "there").mkdir()
    world = World(tmp_path / "own")
    async with world.working():
        run = await world.runs.create(asking(workspace=str(there)), TWO_STEPS, BudgetRequest())
        await world.ended(run.run_id)
        forked = await world.runs.fork(ForkRequest(run.run_id, CALLER))
        assert forked.request.workspace == str(there)
        await world.ended(forked.run_id)
    next_world = replace(world, roots=(tmp_path / "else",))
    async with next_world.working():
        with pytest.raises(RefusedError) as forbidden:
            await next_world.runs.fork(ForkRequest(run.run_id, CALLER))
    next_world = world.reborn()
    async with next_world.working():
        there.rmdir()
        with pytest.raises(InvalidInputError) as gone:
            await next_world.runs.fork(ForkRequest(run.run_id, CALLER))
        assert len(await world.journal.list_runs()) == 2
    assert (forbidden.value.reason, gone.value.reason) == ("WORKSPACE_NOT_ALLOWED", "WORKSPACE_UNUSABLE")


async def test_a_fork_leaves_the_folder_of_a_run_to_that_run(tmp_path: Path) -> None:
    """Where a run worked in a folder of the daemon's own, its fork gets one too, and a repeat the same fork."""
    async with World(tmp_path).working() as world:
        events = await past(world)
        asked = ForkRequest(events[0].run_id, CALLER, request_id="once")
        forked = await world.runs.fork(asked)
        again = await world.runs.fork(asked)
    assert forked.request.workspace == str(tmp_path / forked.run_id)
    assert (tmp_path / forked.run_id).is_dir()
    assert again.run_id == forked.run_id


async def test_a_fork_asks_its_question_again(tmp_path: Path) -> None:
    """A question that is open where a run is forked has its whole deadline again, and a repeat gets the same fork."""
    world = tree_world(tmp_path)
    async with world.working():
        run = await world.runs.create(asking(), plan("ask"), BudgetRequest())
        asks = await world.reached(run.run_id, RunState.AWAITING_INPUT)
        world.clock.advance(100.0)
        asked = ForkRequest(run.run_id, CALLER, asks.seq, request_id="once")
        forked = await world.runs.fork(asked)
        world.clock.advance(1.0)
        again = await world.runs.fork(asked)
    assert forked.questions[0].asked_time == asks.questions[0].asked_time + 100.0
    assert again.run_id == forked.run_id


async def test_a_fork_asks_for_approval_again(tmp_path: Path) -> None:
    """An approval that is open where a run is forked has its whole deadline again, and a repeat gets the same fork."""
    world = World(tmp_path, policy=AskingPolicy(), rules=ApprovalRules(expire_seconds=60.0))
    async with world.working():
        run = await world.runs.create(asking(), ONE_STEP, BudgetRequest())
        asks = await world.reached(run.run_id, RunState.AWAITING_INPUT)
        world.clock.advance(50.0)
        asked = ForkRequest(run.run_id, CALLER, asks.seq, request_id="once")
        forked = await world.runs.fork(asked)
        world.clock.advance(1.0)
        again = await world.runs.fork(asked)
    (first,), (copied,) = asks.approvals, forked.approvals
    assert copied.expire_time == first.expire_time + 50.0
    assert copied.digest == first.digest
    assert again.run_id == forked.run_id


async def test_a_plan_cannot_change_executed_steps(tmp_path: Path) -> None:
    """A plan that changes an executed step is rejected; steps that have not run may change."""
    first, second = TWO_STEPS.steps
    other = PlanStep("s1", "do it", ToolCall("work", {"n": 7}))
    async with World(tmp_path).working() as world:
        events = await past(world)
        run_id, after = events[0].run_id, seq_of(events, StepEnded)
        with pytest.raises(InvalidInputError) as refused:
            await world.runs.fork(ForkRequest(run_id, CALLER, after, plan=Plan("p", (other, second))))
        changed = replace(second, tool_call=ToolCall("work", {"n": 8}))
        forked = await world.runs.fork(ForkRequest(run_id, CALLER, after, plan=Plan("p", (first, changed))))
        ended = await world.ended(forked.run_id)
    assert (refused.value.reason, refused.value.field) == ("FORK_DOES_NOT_FIT", "plan")
    assert refused.value.message.startswith("step s1 had been executed")
    assert ended.steps["s2"].output == {"n": 8}


async def test_another_plan_takes_the_place_of_the_rest(tmp_path: Path) -> None:
    """Steps of the past stay, and what comes after them is the new plan's."""
    changed = Plan("other", (TWO_STEPS.steps[0], PlanStep("s9", "else", ToolCall("work", {"n": 9}))))
    async with World(tmp_path).working() as world:
        events = await past(world)
        asked = ForkRequest(events[0].run_id, CALLER, seq_of(events, StepEnded), plan=changed)
        ended = await world.ended((await world.runs.fork(asked)).run_id)
        kinds = [event.kind for event in await all_events(world.journal, ended.run_id)]
    assert [kind.plan.goal for kind in kinds if isinstance(kind, PlanAdopted)][-1] == "other"
    assert {name: step.output for name, step in ended.steps.items()} == {"s1": {"n": 1}, "s9": {"n": 9}}


async def test_a_plan_that_cannot_be_executed_is_refused(tmp_path: Path) -> None:
    """An invalid plan of a fork is rejected like that of a run, and nothing is created."""
    world = World(tmp_path)
    async with world.working():
        events = await past(world)
        world.validator.problems = (Problem("UNKNOWN_TOOL", "there is no tool", "/steps/0/tool"),)
        with pytest.raises(InvalidInputError) as refused:
            await world.runs.fork(ForkRequest(events[0].run_id, CALLER, plan=ONE_STEP))
        assert (refused.value.reason, refused.value.field) == ("UNKNOWN_TOOL", "plan.steps[0].tool")
        assert len(await world.journal.list_runs()) == 1


async def test_an_answered_run_is_forked_before_its_answer(tmp_path: Path) -> None:
    """From an answer on there is nothing to go on with; up to it there is."""
    async with World(tmp_path).working() as world:
        events = await past(world)
        run_id = events[0].run_id
        with pytest.raises(InvalidInputError) as late:
            await world.runs.fork(ForkRequest(run_id, CALLER, events[-1].seq))
        assert (late.value.reason, late.value.field) == ("FORK_TOO_LATE", "after_seq")
        forked = await world.runs.fork(ForkRequest(run_id, CALLER, seq_of(events, AnswerStarted)))
        assert (await world.ended(forked.run_id)).state is RunState.SUCCEEDED


async def test_a_run_that_ended_without_an_answer_is_forked_before_its_end(tmp_path: Path) -> None:
    """The end of a run that broke cannot be gone on from, which is said."""

    class Broken:
        async def draft(self, snapshot: RunSnapshot, grant: object, on_progress: ProgressSink) -> object:
            raise ZeroDivisionError

    world = World(tmp_path)
    world.planner = Broken()  # type: ignore[assignment]  # it breaks, which no planner is allowed to
    async with world.working():
        run = await world.runs.create(asking(), None, BudgetRequest())
        ended = await world.ended(run.run_id)
        with pytest.raises(WrongStateError) as refused:
            await world.runs.fork(ForkRequest(run.run_id, CALLER, ended.seq))
    assert refused.value.reason == "RUN_ENDED"


async def test_a_plan_that_does_not_fit_the_past_is_refused(tmp_path: Path) -> None:
    """A plan without a step that was executed, or while a question of the old plan is open, is refused."""
    async with tree_world(tmp_path).working() as world:
        run = await world.runs.create(asking(), plan("ask"), BudgetRequest())
        asks = await world.reached(run.run_id, RunState.AWAITING_INPUT)
        with pytest.raises(InvalidInputError) as refused:
            await world.runs.fork(ForkRequest(run.run_id, CALLER, asks.seq, plan=ONE_STEP))
        assert refused.value.reason == "FORK_DOES_NOT_FIT"
        events = await past(world)
        without = Plan("without s1", (PlanStep("s9", "do it", ToolCall("work", {"n": 9})),))
        with pytest.raises(InvalidInputError, match="s1") as refused:
            await world.runs.fork(
                ForkRequest(events[0].run_id, CALLER, seq_of(events, StepEnded), plan=without)
            )
        assert refused.value.reason == "FORK_DOES_NOT_FIT"


async def test_a_plan_for_a_run_that_could_not_be_planned(tmp_path: Path) -> None:
    """A fork that brings the plan which could not be made carries it out and succeeds: that problem is over."""
    world = tree_world(tmp_path)
    world.planner = PlanByTopic({asking().text: None})  # type: ignore[assignment]  # another double of the port
    async with world.working():
        failed = await world.ended((await world.runs.create(asking(), None, BudgetRequest())).run_id)
        assert failed.problem is not None
        events = await all_events(world.journal, failed.run_id)
        asked = ForkRequest(failed.run_id, CALLER, seq_of(events, PlanningFailed), plan=plan("work"))
        ended = await world.ended((await world.runs.fork(asked)).run_id)
    assert (ended.state, ended.problem) == (RunState.SUCCEEDED, None)
    assert ended.steps["s1"].state is StepState.SUCCEEDED


async def test_forks_that_race_give_one_run(tmp_path: Path) -> None:
    """Concurrent forks with one request id return the same run."""
    async with World(tmp_path).working() as world:
        events = await past(world)
        asked = ForkRequest(events[0].run_id, CALLER, seq_of(events, RunStarted), request_id="once")
        run_ids: list[str] = []

        async def fork() -> None:
            run_ids.append((await world.runs.fork(asked)).run_id)

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(fork)
        assert (len(run_ids), len(set(run_ids))) == (8, 1)
        assert len(await world.journal.list_runs()) == 2
