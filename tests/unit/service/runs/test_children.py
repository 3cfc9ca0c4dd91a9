"""Runs that steps start, through the real kernel."""

from pathlib import Path

import anyio
import pytest

from aeond.domain.plans.plan import Plan, StepState
from aeond.domain.runs.budgets import DIMENSIONS, Amounts, BudgetRequest
from aeond.domain.runs.events import (
    CancelRequested,
    ChildRunEnded,
    ChildRunStarted,
    Event,
    EventKind,
    RunEnded,
    RunResumed,
)
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.domain.tools import Effect, RecordedEffect, ToolContext, ToolOutput
from aeond.domain.values import JsonObject, JsonValue
from aeond.ports.journal import RunFilter
from aeond.service.runs.run_queue import RunLimits
from tests.support.doubles import ScriptedTool
from tests.support.service_world import CALLER, USER, World, asking
from tests.support.strategy import calls
from tests.support.trees import next_daemon, plan, starting, tree_world

NO_BOUNDS = BudgetRequest()
PATIENCE = 10.0

# A step that waits for its child run is no call any more, whatever the call that started it may have changed.
started_by_any_tool = pytest.mark.parametrize("effect", [Effect.PURE, Effect.NET])


async def begun(world: World, planned: Plan, **bounds: int) -> str:
    return (await world.runs.create(asking(), planned, BudgetRequest(**bounds))).run_id


async def child_of(world: World, run_id: str, place: int = 0) -> RunSnapshot:
    """A child run of this one, the oldest first."""
    listed = await world.journal.list_runs(RunFilter(parent_run_id=run_id))
    return await world.runs.get(listed[::-1][place].run_id, CALLER)


async def started(world: World, run_id: str, topics: int = 1) -> list[RunSnapshot]:
    """The child runs of a run, once there are so many."""
    while len(listed := await world.journal.list_runs(RunFilter(parent_run_id=run_id))) < topics:
        await anyio.lowlevel.checkpoint()
    return [await world.runs.get(run.run_id, CALLER) for run in reversed(listed)]


async def test_a_childs_answer_is_the_result_of_the_step(tmp_path: Path) -> None:
    """The parent sees a plain call and response; the child is a run with its template's instructions."""
    async with tree_world(tmp_path).working() as world:
        with anyio.fail_after(PATIENCE):
            run = await world.ended(await begun(world, starting("oaks")))
        child = await child_of(world, run.run_id)
    assert run.state is RunState.SUCCEEDED
    assert child.answer is not None
    assert run.steps["s1"].output == {"answer": child.answer.text}
    assert child.request.text == "Work on this.\n\nname:\noaks"
    assert (child.ancestry.parent_run_id, child.ancestry.parent_step_id) == (run.run_id, "s1")
    assert (child.ancestry.depth, child.request.tools) == (1, ("start", "ask", "work"))
    assert (child.request.owner, child.request.workspace) == (USER, run.request.workspace)


async def test_a_child_run_uses_its_parents_budget(tmp_path: Path) -> None:
    """The parent's ledger holds its own use and the child's, and the child never has more than was reserved."""
    async with tree_world(tmp_path).working() as world:
        with anyio.fail_after(PATIENCE):
            run = await world.ended(await begun(world, starting("oaks")))
        child = await child_of(world, run.run_id)
    own = Amounts(ttl=1, tool_calls=1, passes=1)
    assert run.ledger.used == own + child.ledger.used
    assert run.ledger.reserved == Amounts()
    assert child.ledger.used.llm_calls > 0


async def test_effects_of_a_child_run_are_in_its_parents_answer(tmp_path: Path) -> None:
    """The effects of a child run's steps are recorded at its end and in the answers of both."""
    effect = RecordedEffect("file.created", "oaks.txt")

    async def create(_: JsonObject, __: ToolContext) -> ToolOutput[JsonValue]:
        return ToolOutput({"done": True}, (effect,))

    tree = tree_world(tmp_path)
    tree.tools["work"] = ScriptedTool("work", create, Effect.WRITE_CONTAINED)
    async with tree.working() as world:
        with anyio.fail_after(PATIENCE):
            run = await world.ended(await begun(world, starting("oaks")))
        child = await child_of(world, run.run_id)
    assert child.answer is not None
    assert run.answer is not None
    assert child.answer.effects == run.answer.effects == run.effects == (effect,)


async def test_one_place_is_enough_for_a_tree(tmp_path: Path) -> None:
    """With a single place a run, its child and its child's child all work: none waits for a place."""
    plans = {"oaks": starting("acorns")}
    async with tree_world(tmp_path, plans, limits=RunLimits(running=1)).working() as world:
        with anyio.fail_after(PATIENCE):
            run = await world.ended(await begun(world, starting("oaks", "elms")))
        depths = [
            (await world.runs.get(s.run_id, CALLER)).ancestry.depth for s in await world.journal.list_runs()
        ]
    assert run.state is RunState.SUCCEEDED
    assert sorted(depths) == [0, 1, 1, 2]


async def test_children_nest_as_deep_as_the_budget_says(tmp_path: Path) -> None:
    """The child that would lie deeper than allowed is refused to its parent, and each run above says why."""
    plans = {"1": starting("2"), "2": starting("3"), "3": starting("4")}
    async with tree_world(tmp_path, plans).working() as world:
        with anyio.fail_after(PATIENCE):
            run = await world.ended(await begun(world, starting("1"), depth=2))
        runs = [await world.runs.get(s.run_id, CALLER) for s in await world.journal.list_runs()]
    deepest = max(runs, key=lambda one: one.ancestry.depth)
    assert deepest.ancestry.depth == 2
    assert deepest.steps["s1"].reason == "SUBTASK_TOO_DEEP"
    assert run.steps["s1"].reason == "SUBTASK_FAILED"


async def test_a_subtask_within_itself_is_refused(tmp_path: Path) -> None:
    """Two topics that start each other end where the circle would close."""
    plans = {"hen": starting("egg"), "egg": starting("hen")}
    async with tree_world(tmp_path, plans).working() as world:
        with anyio.fail_after(PATIENCE):
            await world.ended(await begun(world, starting("hen"), depth=5))
        runs = [await world.runs.get(s.run_id, CALLER) for s in await world.journal.list_runs()]
    assert len(runs) == 3
    egg = max(runs, key=lambda one: one.ancestry.depth)
    assert egg.steps["s1"].reason == "SUBTASK_CYCLE"


async def test_a_failed_child_fails_its_step_alone(tmp_path: Path) -> None:
    """The step says which run failed and why; its siblings go on."""
    async with tree_world(tmp_path, {"bad": None}).working() as world:
        with anyio.fail_after(PATIENCE):
            run = await world.ended(await begun(world, starting("bad", "good")))
        child = await child_of(world, run.run_id)
    bad, good, _ = run.steps.values()
    assert (bad.state, bad.reason, bad.output) == (StepState.FAILED, "SUBTASK_FAILED", None)
    assert child.run_id in bad.error
    assert "there is no plan for that" in bad.error
    assert good.state is StepState.SUCCEEDED


async def test_a_cancelled_child_fails_its_step(tmp_path: Path) -> None:
    """Cancelling a child run alone fails its step, and the parent continues."""
    plans = {"slow": plan("ask")}
    async with tree_world(tmp_path, plans).working() as world:
        run_id = await begun(world, starting("slow", "good"))
        with anyio.fail_after(PATIENCE):
            children = await started(world, run_id, 2)
            slow = next(c for c in children if c.request.text.endswith("slow"))
            await world.reached(slow.run_id, RunState.AWAITING_INPUT)
            await world.runs.cancel(slow.run_id, CALLER, "enough")
            run = await world.ended(run_id)
    assert (run.steps["s1"].state, run.steps["s1"].reason) == (StepState.FAILED, "SUBTASK_CANCELLED")
    assert run.steps["s2"].state is StepState.SUCCEEDED


@started_by_any_tool
async def test_cancelling_a_run_cancels_all_below_it(tmp_path: Path, effect: Effect) -> None:
    """Cancelling a run ends all runs below it."""
    plans = {"1": starting("2"), "2": plan("ask"), "3": plan("ask")}
    async with tree_world(tmp_path, plans, effect=effect).working() as world:
        run_id = await begun(world, starting("1", "3"))
        with anyio.fail_after(PATIENCE):
            one, three = await started(world, run_id, 2)
            (two,) = await started(world, one.run_id)
            for asking_run in (two, three):
                await world.reached(asking_run.run_id, RunState.AWAITING_INPUT)
            await world.runs.cancel(run_id, CALLER, "enough")
            for summary in await world.journal.list_runs():
                run = await world.ended(summary.run_id)
                assert run.state is RunState.CANCELLED, run


@started_by_any_tool
async def test_expiry_reaches_all_below_it(tmp_path: Path, effect: Effect) -> None:
    """When a run's time is up its children end too, also one that waits for a person, and the run still answers."""
    never = anyio.Event()

    async def hang(arguments: JsonObject, _: ToolContext) -> JsonValue:
        await never.wait()
        return None

    plans = {"1": starting("2"), "2": plan("hang"), "3": plan("ask")}
    world = tree_world(tmp_path, plans, effect=effect)
    world.tools["hang"] = ScriptedTool("hang", hang)
    async with world.working():
        run_id = await begun(world, starting("1", "3"), wall_seconds=60)
        with anyio.fail_after(PATIENCE):
            one, three = await started(world, run_id, 2)
            (two,) = await started(world, one.run_id)
            await world.reached(two.run_id, RunState.RUNNING)
            await world.reached(three.run_id, RunState.AWAITING_INPUT)
            while not world.tools["hang"].calls:
                await anyio.lowlevel.checkpoint()
            world.clock.advance(61)
            run = await world.ended(run_id)
            ends = [await world.ended(child.run_id) for child in (one, two, three)]
    assert run.state is RunState.EXPIRED
    assert run.answer is not None
    assert {end.state for end in ends} <= {RunState.CANCELLED, RunState.EXPIRED}


@started_by_any_tool
async def test_the_next_daemon_goes_on_with_a_tree(tmp_path: Path, effect: Effect) -> None:
    """After daemons that died or were stopped each run of a tree goes on once, and no child is begun twice."""
    gate = anyio.Event()

    async def wait(arguments: JsonObject, _: ToolContext) -> JsonValue:
        await gate.wait()
        return "done"

    world = tree_world(tmp_path, {"1": plan("wait")}, effect=effect)
    world.tools["wait"] = ScriptedTool("wait", wait, Effect.READ)
    async with world.working():
        run_id = await begun(world, starting("1"))
        with anyio.fail_after(PATIENCE):
            (child,) = await started(world, run_id)
            while not world.tools["wait"].calls:
                await anyio.lowlevel.checkpoint()
    async with next_daemon(world).working() as second:
        with anyio.fail_after(PATIENCE):
            while len(world.tools["wait"].calls) < 2:
                await anyio.lowlevel.checkpoint()
            assert (await second.runs.get(run_id, CALLER)).steps["s1"].attempt == 2
    gate.set()
    async with next_daemon(world).working() as after:
        with anyio.fail_after(PATIENCE):
            run = await after.ended(run_id)
        assert [s.run_id for s in await after.journal.list_runs(RunFilter(parent_run_id=run_id))] == [
            child.run_id
        ]
        assert (await after.runs.get(child.run_id, CALLER)).state is RunState.SUCCEEDED
    assert run.state is RunState.SUCCEEDED
    assert run.steps["s1"].output == {"answer": "done"}


async def test_a_child_whose_parent_ended_unseen_is_called_off(tmp_path: Path) -> None:
    """A daemon that died between a parent's end and its child's leaves nothing that goes on for ever."""
    world = tree_world(tmp_path, {"1": plan("ask")})
    async with world.working():
        run_id = await begun(world, starting("1"))
        with anyio.fail_after(PATIENCE):
            (child,) = await started(world, run_id)
            await world.reached(child.run_id, RunState.AWAITING_INPUT)
    parent = await world.runs.get(run_id, CALLER)
    kinds: tuple[EventKind, ...] = (RunResumed(), CancelRequested(USER), RunEnded(RunState.CANCELLED))
    await world.journal.append(
        [Event(run_id, parent.seq + n, 1.0, 0.0, kind) for n, kind in enumerate(kinds, start=1)]
    )
    async with next_daemon(world).working() as after:
        with anyio.fail_after(PATIENCE):
            assert (await after.ended(child.run_id)).state is RunState.CANCELLED


async def test_the_end_of_a_child_stands_between_its_own_and_its_steps(tmp_path: Path) -> None:
    """The parent's journal contains the child's start and end, with its budget and its use."""
    async with tree_world(tmp_path).working() as world:
        with anyio.fail_after(PATIENCE):
            run = await world.ended(await begun(world, starting("oaks")))
        child = await child_of(world, run.run_id)
        events = await world.journal.read(run.run_id)
    (began,) = (e.kind for e in events if isinstance(e.kind, ChildRunStarted))
    (ended,) = (e.kind for e in events if isinstance(e.kind, ChildRunEnded))
    assert began.child.child_run_id == ended.child_run_id == child.run_id
    assert began.child.budget == child.bound
    assert ended.used == child.ledger.used
    assert not ended.used.exceeding(began.reservation)


async def test_no_run_gets_a_tool_by_starting_another(tmp_path: Path) -> None:
    """A child of a restricted run may use what its template names and its parent may use, nothing more."""
    plans = {"1": starting("2")}
    async with tree_world(tmp_path, plans).working() as world:
        request = asking(tools=("start",))
        with anyio.fail_after(PATIENCE):
            run_id = (await world.runs.create(request, starting("1"), NO_BOUNDS)).run_id
            await world.ended(run_id)
        assert (await child_of(world, run_id)).request.tools == ("start",)


async def test_a_subtask_too_long_for_any_prompt_fails_its_step(tmp_path: Path) -> None:
    """Inputs beyond a request's size start no run; the step says what to do."""
    async with tree_world(tmp_path).working() as world:
        with anyio.fail_after(PATIENCE):
            run = await world.ended(await begun(world, starting("x" * 100_000)))
        assert await world.journal.list_runs(RunFilter(parent_run_id=run.run_id)) == []
    assert run.steps["s1"].reason == "SUBTASK_TOO_LONG"
    assert run.ledger.used == Amounts(ttl=1, tool_calls=1, passes=1)


async def test_a_child_out_of_budget_gives_what_it_has(tmp_path: Path) -> None:
    """A child that runs out of steps after some succeeded gives a partly clear result with a note."""
    plans = {"1": Plan("a goal", (calls("a", "work", n=1), calls("b", "work", "a"), calls("c", "work", "b")))}
    async with tree_world(tmp_path, plans, budget=BudgetRequest(ttl=2)).working() as world:
        with anyio.fail_after(PATIENCE):
            run = await world.ended(await begun(world, starting("1")))
        child = await child_of(world, run.run_id)
    assert child.state is RunState.EXPIRED
    step = run.steps["s1"]
    assert step.state is StepState.SUCCEEDED
    assert step.clarity == "partially_clear"
    assert all(getattr(child.ledger.used, d) <= getattr(child.bound.amounts, d) for d in DIMENSIONS)


async def test_a_child_that_expired_without_a_result_fails_its_step(tmp_path: Path) -> None:
    """A child whose budget ended before any of its steps did says so in the step that waited for it."""
    plans = {"1": plan("work")}
    async with tree_world(tmp_path, plans, budget=BudgetRequest(ttl=0)).working() as world:
        run = await world.ended(await begun(world, starting("1")))
        child = await child_of(world, run.run_id)
    assert child.state is RunState.EXPIRED
    step = run.steps["s1"]
    assert (step.state, step.reason) == (StepState.FAILED, "SUBTASK_EXPIRED")
    assert child.run_id in step.error


@started_by_any_tool
@pytest.mark.parametrize("topics", [1, 3])
async def test_a_run_rests_while_its_children_wait_for_people(
    tmp_path: Path, topics: int, effect: Effect
) -> None:
    """While all that a run waits for are children that ask people, none holds a place or burns time."""
    names = [str(n) for n in range(topics)]
    plans = {name: plan("ask") for name in names}
    world = tree_world(tmp_path, plans, effect=effect, limits=RunLimits(running=1))
    async with world.working():
        run_id = await begun(world, starting(*names), wall_seconds=60, ttl=90)
        with anyio.fail_after(PATIENCE):
            children = await started(world, run_id, topics)
            for child in children:
                await world.reached(child.run_id, RunState.AWAITING_INPUT)
            while world.scheduler.running_count:
                await anyio.lowlevel.checkpoint()
            world.clock.advance(3_600)
            assert (await world.ended(await begun(world, plan("work")))).state is RunState.SUCCEEDED
            for child in children:
                await world.runs.answer(child.run_id, "", "red", CALLER)
            run = await world.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert run.elapsed_seconds < 60
    assert [run.steps[child.ancestry.parent_step_id].output for child in children] == [
        {"answer": "red"}
    ] * topics
