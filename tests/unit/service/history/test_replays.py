"""Replays: a run comes out of its record again, and a record that the code would not have written does not."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from aeond.domain.outcome import Problem
from aeond.domain.plans.approvals import ApprovalAnswer
from aeond.domain.plans.plan import Plan
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, BudgetRequest
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.run import Resolution, RunState, SuspendReason
from aeond.errors import InvalidInputError, ReplayError
from aeond.service.history.replays import Replay
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold
from tests.support.asking_policy import AskingPolicy
from tests.support.doubles import ScriptedTool
from tests.support.journals import all_events
from tests.support.run_host import Gate
from tests.support.service_world import CALLER, ONE_STEP, World, asking
from tests.support.strategy import calls
from tests.support.trees import tree_world

# Two steps at once, a question beside them, and one that waits for all.
SIDE_BY_SIDE = Plan(
    "a goal",
    (
        calls("s1", "work", n=1),
        calls("s2", "work", n=2),
        calls("s3", "ask"),
        calls("s4", "work", "s1", "s2", "s3"),
    ),
)
Altering = Callable[[list[e.Event]], list[e.Event]]


async def recorded(world: World) -> list[e.Event]:
    """The record of a run with a plan, concurrent steps, a question and an answer."""
    run_id = (await world.runs.create(asking(), None, BudgetRequest())).run_id
    return await answered(world, run_id)


async def answered(world: World, run_id: str) -> list[e.Event]:
    """The events of a run, with its question answered where it asks one."""
    run = await world.reached(run_id, RunState.AWAITING_INPUT, RunState.SUCCEEDED)
    if run.state is RunState.AWAITING_INPUT:
        await world.runs.answer(run_id, "", "red", CALLER)
    assert (await world.ended(run_id)).state is RunState.SUCCEEDED
    return await all_events(world.journal, run_id)


def replayed(events: list[e.Event]) -> list[e.Event]:
    replay = Replay(events[0].run_id, decide, fold)
    return [replay.next(event) for event in events]


def place(events: list[e.Event], kind: type, nth: int = 0) -> int:
    """Where the nth event of this kind stands in the list."""
    return [n for n, event in enumerate(events) if isinstance(event.kind, kind)][nth]


def numbered(events: list[e.Event]) -> list[e.Event]:
    return [replace(event, seq=seq) for seq, event in enumerate(events, start=1)]


def reserving(kind: type) -> Altering:
    """One token more was reserved than the code reserves."""

    def alter(events: list[e.Event]) -> list[e.Event]:
        at = place(events, kind)
        intent = events[at].kind
        assert isinstance(intent, e.StepStarted | e.OperationStarted | e.PlanningStarted | e.AnswerStarted)
        more = replace(intent, reservation=intent.reservation + Amounts(tokens=1))
        return [*events[:at], replace(events[at], kind=more), *events[at + 1 :]]

    return alter


def without(kind: type) -> Altering:
    """A decision is missing."""

    def alter(events: list[e.Event]) -> list[e.Event]:
        at = place(events, kind)
        return numbered([*events[:at], *events[at + 1 :]])

    return alter


def twice(kind: type) -> Altering:
    """A decision stands there once more than it was taken."""

    def alter(events: list[e.Event]) -> list[e.Event]:
        at = place(events, kind)
        return numbered([*events[:at], events[at], *events[at:]])

    return alter


def swapped(events: list[e.Event]) -> list[e.Event]:
    """Two steps that are due together began the other way round."""
    one, two = (place(events, e.StepStarted, nth) for nth in (0, 1))
    changed = list(events)
    changed[one], changed[two] = events[two], events[one]
    return numbered(changed)


def ended_otherwise(events: list[e.Event]) -> list[e.Event]:
    """A run that succeeded says that it failed."""
    return [
        *events[:-1],
        replace(events[-1], kind=e.RunEnded(RunState.FAILED, Problem("STEPS_FAILED", "s1"))),
    ]


def out_of_budget(events: list[e.Event]) -> list[e.Event]:
    """A run with enough of everything left says that its steps ran out."""
    at = place(events, e.PassEnded)
    return numbered([*events[:at], replace(events[at], kind=e.BudgetExhausted("ttl")), *events[at:]])


async def test_a_run_comes_out_as_recorded(tmp_path: Path) -> None:
    """A run that planned, did several things at once and asked gives the very events that its journal holds."""
    async with tree_world(tmp_path, {asking().text: SIDE_BY_SIDE}).working() as world:
        events = await recorded(world)
    assert replayed(events) == events


@pytest.mark.parametrize(
    "alter",
    [
        swapped,
        reserving(e.PlanningStarted),
        reserving(e.StepStarted),
        reserving(e.AnswerStarted),
        without(e.RunStarted),
        without(e.PassStarted),
        without(e.StepStarted),
        without(e.PassEnded),
        twice(e.PassStarted),
        twice(e.StepStarted),
        twice(e.PassEnded),
        ended_otherwise,
        out_of_budget,
    ],
)
async def test_a_record_that_the_code_would_not_have_written_is_noticed(
    tmp_path: Path, alter: Altering
) -> None:
    """A different order, reservation, end or number of decisions is detected with its event."""
    async with tree_world(tmp_path, {asking().text: SIDE_BY_SIDE}).working() as world:
        events = await recorded(world)
    altered = alter(events)
    first = next(n for n, pair in enumerate(zip(events, altered, strict=False)) if pair[0] != pair[1])
    replay = Replay(events[0].run_id, decide, fold)
    assert [replay.next(event) for event in altered[:first]] == events[:first]
    with pytest.raises(ReplayError, match=r"event \d+ is ") as parted:
        for event in altered[first:]:
            replay.next(event)
    assert parted.value.reason == "REPLAY_MISMATCH"


async def test_a_fork_from_any_event_replays(tmp_path: Path) -> None:
    """Wherever a run is forked, also between steps that began together, the fork goes to its end and replays."""
    async with tree_world(tmp_path, {asking().text: SIDE_BY_SIDE}).working() as world:
        events = await recorded(world)
        for seq in range(1, place(events, e.AnswerComposed) + 1):
            forked = await world.runs.fork(ForkRequest(events[0].run_id, CALLER, seq))
            its_own = await answered(world, forked.run_id)
            assert replayed(its_own) == its_own


async def test_a_run_suspended_for_approval_replays(tmp_path: Path) -> None:
    """A run that was suspended because no client watched its approval comes out as recorded, and so does its fork with a
    lower limit.
    """
    async with World(tmp_path, policy=AskingPolicy()).working() as world:
        run_id = (await world.runs.create(asking(unattended=True), ONE_STEP, BudgetRequest())).run_id
        run = await world.reached(run_id, RunState.SUSPENDED)
        assert run.suspend_reason is SuspendReason.APPROVAL
        (approval,) = run.approvals
        allowed = ApprovalAnswer(approval.approval_id, approval.digest, True)
        await world.runs.decide_approval(run_id, allowed, CALLER)
        assert (await world.ended(run_id)).state is RunState.SUCCEEDED
        events = await all_events(world.journal, run_id)
        assert replayed(events) == events
        at = events[place(events, e.ApprovalDecided)].seq
        await world.runs.fork(ForkRequest(run_id, CALLER, at, budget=BudgetRequest(ttl=50)))


async def test_a_run_whose_workspace_changed_replays(tmp_path: Path) -> None:
    """A run that was suspended because its workspace is another folder comes out as recorded."""
    gate, folder = Gate(), tmp_path / "folder"
    folder.mkdir()
    world = World(tmp_path / "own", tools={"work": ScriptedTool("work", gate.pass_through)})
    async with world.working():
        asked = asking(workspace=str(folder))
        run_id = (await world.runs.create(asked, ONE_STEP, BudgetRequest())).run_id
        await gate.entered.wait()
        await world.scheduler.drain(5)
    folder.rename(tmp_path / "moved")
    folder.mkdir()
    gate.open.set()
    async with world.reborn().working() as reborn:
        run = await reborn.reached(run_id, RunState.SUSPENDED)
        assert run.suspend_reason is SuspendReason.WORKSPACE_CHANGED
        await reborn.runs.decide(run_id, "", Resolution.RETRY, CALLER)
        assert (await reborn.ended(run_id)).state is RunState.SUCCEEDED
    events = await all_events(world.journal, run_id)
    assert replayed(events) == events


async def test_a_fork_with_less_replays_or_is_refused(tmp_path: Path) -> None:
    """A fork with lower limits is rejected if the run would have taken another path, and replays
    otherwise.
    """
    refused = 0
    async with tree_world(tmp_path, {asking().text: SIDE_BY_SIDE}).working() as world:
        events = await recorded(world)
        for seq, llm_calls in product((3, 7, 9, 12), range(1, 16)):
            asked = ForkRequest(events[0].run_id, CALLER, seq, budget=BudgetRequest(llm_calls=llm_calls))
            try:
                forked = await world.runs.fork(asked)
            except InvalidInputError as error:
                assert error.reason == "FORK_DOES_NOT_FIT"
                refused += error.field == "budget"
                continue
            run = await world.reached(
                forked.run_id, RunState.AWAITING_INPUT, *(s for s in RunState if s.ended)
            )
            if run.state is RunState.AWAITING_INPUT:
                await world.runs.answer(run.run_id, "", "red", CALLER)
            await world.ended(run.run_id)
            its_own = await all_events(world.journal, run.run_id)
            assert replayed(its_own) == its_own
    assert refused
