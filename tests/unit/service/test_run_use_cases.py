"""Use cases of runs."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.runs.budgets import Budget, BudgetRequest
from aeond.domain.runs.events import RunCreated
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.run import Owner, RunRequest, RunState
from aeond.domain.tools import ToolCall
from aeond.errors import AlreadyExistsError, InvalidInputError, NotFoundError, WrongStateError
from aeond.ports.journal import RunFilter
from aeond.service.run_use_cases import Bounds
from tests.support.service_world import CALLER, ONE_STEP, USER, ScriptedValidator, World, asking
from tests.support.strategy import calls
from tests.support.trees import tree_world

NO_BOUNDS = BudgetRequest()


async def test_a_repeated_creation_gives_the_same_run(tmp_path: Path) -> None:
    """The same request under the same id from the same user is one run, also after it has ended."""
    async with World(tmp_path).working() as world:
        first = await world.runs.create(asking(request_id="once"), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            ended = await world.ended(first.run_id)
        again = await world.runs.create(asking(request_id="once"), ONE_STEP, NO_BOUNDS)
    assert again == ended
    assert len(await world.journal.list_runs()) == 1


async def test_a_user_at_the_limit_creates_no_run(tmp_path: Path) -> None:
    """A user who can store nothing more is refused a new run and a fork, gets the run of a repeated request, and keeps the runs
    in progress; another user is not refused.
    """
    async with World(tmp_path).working() as world:
        first = await world.runs.create(asking(request_id="once"), ONE_STEP, NO_BOUNDS)
        world.stored.bytes[USER.uid] = 1_000
        with pytest.raises(WrongStateError) as refused:
            await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        assert refused.value.reason == "USER_STORAGE_FULL"
        with pytest.raises(WrongStateError) as refused:
            await world.runs.fork(ForkRequest(first.run_id, CALLER))
        assert refused.value.reason == "USER_STORAGE_FULL"
        again = await world.runs.create(asking(request_id="once"), ONE_STEP, NO_BOUNDS)
        assert again.run_id == first.run_id
        assert (await world.ended(first.run_id)).state is RunState.SUCCEEDED
        theirs = replace(asking(), owner=Owner(uid=7))
        await world.runs.create(theirs, ONE_STEP, NO_BOUNDS)
        assert len(await world.journal.list_runs()) == 2


async def test_a_run_in_progress_at_the_limit_starts_others(tmp_path: Path) -> None:
    """A run that was accepted starts its child runs also when its user can store nothing more by then."""
    asking_first = Plan("a goal", (calls("s1", "ask"), calls("s2", "start", "s1", name="leaf")))
    async with tree_world(tmp_path).working() as world:
        run = await world.runs.create(asking(), asking_first, NO_BOUNDS)
        await world.reached(run.run_id, RunState.AWAITING_INPUT)
        world.stored.bytes[USER.uid] = 1_000
        await world.runs.answer(run.run_id, "", "red", CALLER)
        assert (await world.ended(run.run_id)).state is RunState.SUCCEEDED
        assert len(await world.journal.list_runs()) == 2


async def test_a_run_records_which_tools_ask_the_model(tmp_path: Path) -> None:
    """The tools for which more of the budget is reserved are those of the time of the request, so that its journal decides
    alike later."""
    async with World(tmp_path).working() as world:
        assert (await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)).asking_tools == ("asking",)


async def test_creations_that_race_give_one_run(tmp_path: Path) -> None:
    """Two concurrent requests with the same id return the same run."""
    async with World(tmp_path).working() as world:
        run_ids: list[str] = []

        async def create() -> None:
            run_ids.append((await world.runs.create(asking(request_id="once"), ONE_STEP, NO_BOUNDS)).run_id)

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(create)
    assert len(run_ids) == 8
    assert len(set(run_ids)) == 1


@pytest.mark.parametrize(
    ("request_again", "plan_again"),
    [
        (asking("do something else", request_id="once"), ONE_STEP),
        (asking(request_id="once", parallel_steps=1), ONE_STEP),
        (asking(request_id="once"), None),
        (asking(request_id="once"), Plan("one step", (PlanStep("s1", "do it", ToolCall("work", {"n": 2})),))),
    ],
)
async def test_a_request_id_stands_for_one_request(
    tmp_path: Path, request_again: RunRequest, plan_again: Plan | None
) -> None:
    """A request id that was used for another request is refused and changes nothing."""
    async with World(tmp_path).working() as world:
        await world.runs.create(asking(request_id="once"), ONE_STEP, NO_BOUNDS)
        with pytest.raises(AlreadyExistsError) as raised:
            await world.runs.create(request_again, plan_again, NO_BOUNDS)
    assert raised.value.reason == "REQUEST_ID_REUSED"


async def test_request_ids_of_two_users_do_not_meet(tmp_path: Path) -> None:
    """Each user has request ids of their own."""
    async with World(tmp_path).working() as world:
        mine = await world.runs.create(asking(request_id="once"), ONE_STEP, NO_BOUNDS)
        other = RunRequest("do it", request_id="once", owner=Owner(uid=1001))
        theirs = await world.runs.create(other, ONE_STEP, NO_BOUNDS)
    assert mine.run_id != theirs.run_id


async def test_another_process_of_the_same_user_repeats_too(tmp_path: Path) -> None:
    """A client that was restarted gets its run by the same request id."""
    async with World(tmp_path).working() as world:
        first = await world.runs.create(asking(request_id="once"), ONE_STEP, NO_BOUNDS)
        restarted = RunRequest("do it", request_id="once", owner=Owner(uid=USER.uid, pid=USER.pid + 1))
        again = await world.runs.create(restarted, ONE_STEP, NO_BOUNDS)
    assert again.run_id == first.run_id


async def test_a_repeat_in_another_trace_is_the_same_request(tmp_path: Path) -> None:
    """A client that repeats a request within another trace gets its run."""
    async with World(tmp_path).working() as world:
        first = await world.runs.create(asking(request_id="once"), ONE_STEP, NO_BOUNDS)
        traced = replace(asking(request_id="once"), trace_parent="00-1-2-01")
        again = await world.runs.create(traced, ONE_STEP, NO_BOUNDS)
    assert again.run_id == first.run_id


async def test_without_a_request_id_each_creation_is_a_new_run(tmp_path: Path) -> None:
    """A request without an id is never taken for another."""
    async with World(tmp_path).working() as world:
        runs = [await world.runs.create(asking(), ONE_STEP, NO_BOUNDS) for _ in range(2)]
    assert runs[0].run_id != runs[1].run_id


@pytest.mark.parametrize("text", ["", "  \n\t"])
async def test_an_empty_request_is_refused(tmp_path: Path, text: str) -> None:
    """A request that says nothing is refused by the name of its field."""
    async with World(tmp_path).working() as world:
        with pytest.raises(InvalidInputError) as raised:
            await world.runs.create(asking(text), ONE_STEP, NO_BOUNDS)
    assert (raised.value.reason, raised.value.field) == ("TEXT_EMPTY", "text")


async def test_a_plan_that_does_not_validate_names_its_field(tmp_path: Path) -> None:
    """Every problem of a plan is reported with its path, and nothing is created."""
    problems = (
        Problem("UNKNOWN_DEPENDENCY", "there is no step x", "/steps/2/depends_on/0"),
        Problem("DUPLICATE_STEP", "there are two steps s1", "/steps/1/step_id"),
    )
    world = World(tmp_path, validator=ScriptedValidator(problems))
    async with world.working():
        with pytest.raises(InvalidInputError) as raised:
            await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
    assert raised.value.field == "plan.steps[2].depends_on[0]"
    assert raised.value.reason == "UNKNOWN_DEPENDENCY"
    assert "plan.steps[1].step_id: there are two steps s1" in raised.value.message
    assert await world.journal.list_runs() == []


async def test_a_plan_with_many_problems_gives_a_short_error(tmp_path: Path) -> None:
    """An error stays readable however much is wrong, and says how much more there is."""
    problems = tuple(Problem("BAD", "it is bad", f"/steps/{n}") for n in range(10_000))
    async with World(tmp_path, validator=ScriptedValidator(problems)).working() as world:
        with pytest.raises(InvalidInputError, match="9995 more") as raised:
            await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
    assert len(raised.value.message) < 500


async def test_a_budget_never_exceeds_the_limit(tmp_path: Path) -> None:
    """A requested budget is granted up to the configured limit, with defaults for unset limits."""
    async with World(tmp_path).working() as world:
        run = await world.runs.create(asking(), ONE_STEP, BudgetRequest(ttl=1_000_000, passes=2))
        (event, *_) = await world.journal.read(run.run_id)
    assert isinstance(event.kind, RunCreated)
    assert (event.kind.budget.ttl, event.kind.budget.passes) == (100, 2)
    assert event.kind.budget.tokens == world.bounds.default.tokens


async def test_new_bounds_hold_for_new_runs(tmp_path: Path) -> None:
    """After other bounds were adopted a new run gets theirs, and an older one keeps its own."""
    async with World(tmp_path).working() as world:
        before = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        world.runs.adopt(Bounds(Budget(ttl=3), Budget(ttl=5)))
        plain = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        greedy = await world.runs.create(asking(), ONE_STEP, BudgetRequest(ttl=1_000_000))
    assert [run.ledger.limit.ttl for run in (before, plain, greedy)] == [Budget().ttl, 3, 5]


async def test_a_run_without_a_workspace_gets_one_of_its_own(tmp_path: Path) -> None:
    """A request without a workspace gets an empty private folder."""
    async with World(tmp_path).working() as world:
        runs = [await world.runs.create(asking(), ONE_STEP, NO_BOUNDS) for _ in range(2)]
    folders = {Path(run.request.workspace) for run in runs}
    assert len(folders) == 2
    assert all(folder.is_dir() and folder.is_relative_to(tmp_path) for folder in folders)


async def test_cancelling_twice_is_cancelling_once(tmp_path: Path) -> None:
    """A repeated cancellation, or one after the end, returns the run as it is."""
    async with World(tmp_path).working() as world:
        created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        with anyio.fail_after(60):
            ended = await world.ended(created.run_id)
            assert await world.runs.cancel(created.run_id, CALLER, "") == ended
            assert await world.runs.cancel(created.run_id, CALLER, "") == ended


async def test_cancellations_that_race_all_succeed(tmp_path: Path) -> None:
    """Concurrent cancellations of one run all succeed."""
    world = World(tmp_path)
    world.planner.gate = anyio.Event()
    async with world.working():
        created = await world.runs.create(asking(), None, NO_BOUNDS)
        with anyio.fail_after(60):
            await world.planner.started.wait()
            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(world.runs.cancel, created.run_id, CALLER, "")
            assert (await world.ended(created.run_id)).state is RunState.CANCELLED


async def test_runs_are_listed_newest_first_page_by_page(tmp_path: Path) -> None:
    """A list goes on after the last run of the page before."""
    async with World(tmp_path).working() as world:
        run_ids = [(await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)).run_id for _ in range(5)]
        first = await world.runs.list_runs(CALLER, RunFilter(limit=3))
        second = await world.runs.list_runs(CALLER, RunFilter(before=first[-1].run_id, limit=3))
    assert [summary.run_id for summary in (*first, *second)] == run_ids[::-1]


async def test_a_run_that_does_not_exist_is_not_found(tmp_path: Path) -> None:
    """Looking at an unknown run says so."""
    async with World(tmp_path).working() as world:
        with pytest.raises(NotFoundError) as raised:
            await world.runs.get("nobody", CALLER)
    assert raised.value.reason == "RUN_NOT_FOUND"


async def test_a_plan_that_declares_no_order_runs_in_order(tmp_path: Path) -> None:
    """A client's plan without any dependency is carried out step by step, and stays the same request."""
    steps = tuple(PlanStep(f"s{n}", "do it", ToolCall("work", {"n": n})) for n in range(1, 4))
    plan = Plan("three steps", steps)
    async with World(tmp_path).working() as world:
        created = await world.runs.create(asking(request_id="once"), plan, NO_BOUNDS)
        with anyio.fail_after(60):
            ended = await world.ended(created.run_id)
        again = await world.runs.create(asking(request_id="once"), plan, NO_BOUNDS)
    assert ended.plan is not None
    assert [step.depends_on for step in ended.plan] == [(), ("s1",), ("s2",)]
    assert again.run_id == created.run_id
