"""One stream of a run and of all runs below it."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import ChildRunEnded, ChildRunStarted, Event, RunEnded, StepEnded
from aeond.domain.runs.live_updates import TextDelta
from aeond.domain.runs.run import RunState
from aeond.errors import InvalidInputError, NotFoundError, UnavailableError
from aeond.ports.journal import RunFilter
from aeond.service.watching.tree_stream import TreeWatching
from tests.support.service_world import CALLER, World, asking
from tests.support.trees import plan, starting, tree_world

PATIENCE = 10.0
PLANS = {"1": starting("2"), "2": plan("work"), "3": plan("work")}


async def tree(world: World) -> str:
    """A run that has started two, one of which has started another."""
    return (await world.runs.create(asking(), starting("1", "3"), BudgetRequest())).run_id


async def seen(
    world: World, run_id: str, after_seq: int = 0, child_seqs: Mapping[str, int] | None = None
) -> list[Event]:
    """The numbered events of a tree's stream, to its end."""
    watching = TreeWatching(world.journal, world.feed)
    batches = [batch async for batch in watching.watch(run_id, after_seq, child_seqs or {})]
    assert all(0 < len(batch) <= 256 for batch in batches)
    return [item for batch in batches for item in batch if isinstance(item, Event)]


async def whole(world: World) -> dict[str, int]:
    """Every run and its last number."""
    return {run.run_id: run.last_seq for run in await world.journal.list_runs()}


def numbers(events: list[Event]) -> dict[str, list[int]]:
    by_run: dict[str, list[int]] = defaultdict(list)
    for event in events:
        by_run[event.run_id].append(event.seq)
    return by_run


@pytest.mark.parametrize("late", [False, True])
async def test_each_run_is_shown_gapless_and_once(tmp_path: Path, late: bool) -> None:
    """Whether one watches from the start or comes when all is over: every event of every run, in order."""
    async with tree_world(tmp_path, PLANS).working() as world:
        with anyio.fail_after(PATIENCE):
            run_id = await tree(world)
            if late:
                await world.ended(run_id)
            events = await seen(world, run_id)
        expected = {run: list(range(1, last + 1)) for run, last in (await whole(world)).items()}
    assert len(expected) == 4
    assert numbers(events) == expected


async def test_a_run_is_shown_between_the_marks_of_its_parent(tmp_path: Path) -> None:
    """Nothing of a run comes before its ChildRunStarted or after its ChildRunEnded."""
    async with tree_world(tmp_path, PLANS).working() as world:
        with anyio.fail_after(PATIENCE):
            events = await seen(world, await tree(world))
    begun: set[str] = set()
    closed: set[str] = set()
    for event in events[1:]:
        assert event.run_id == events[0].run_id or event.run_id in begun - closed
        if isinstance(event.kind, ChildRunStarted):
            begun.add(event.kind.child.child_run_id)
        if isinstance(event.kind, ChildRunEnded):
            closed.add(event.kind.child_run_id)
    assert len(closed) == 3


def place_after(events: list[Event], root: str) -> tuple[int, dict[str, int]]:
    """The position of a client that received these events."""
    after_seq, child_seqs = 0, {}
    for event in events:
        if event.run_id == root:
            after_seq = event.seq
        else:
            child_seqs[event.run_id] = event.seq
        if isinstance(event.kind, ChildRunEnded):
            child_seqs.pop(event.kind.child_run_id, None)
    return after_seq, child_seqs


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 60), min_size=1, max_size=4))
async def test_a_stream_goes_on_where_it_was_left(
    cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """However often and wherever a client loses the stream, it gets every event of every run exactly once."""
    async with tree_world(tmp_path_factory.mktemp("tree"), PLANS).working() as world:
        with anyio.fail_after(PATIENCE):
            run_id = await tree(world)
            got: list[Event] = []
            for cut in cuts:
                got += (await seen(world, run_id, *place_after(got, run_id)))[:cut]
            got += await seen(world, run_id, *place_after(got, run_id))
        expected = {run: list(range(1, last + 1)) for run, last in (await whole(world)).items()}
    assert numbers(got) == expected


async def test_the_stream_stays_until_all_have_ended(tmp_path: Path) -> None:
    """A run below that waits for a person keeps the stream of a cancelled parent open until it ends too."""
    async with tree_world(tmp_path, {"1": plan("ask")}).working() as world:
        with anyio.fail_after(PATIENCE):
            run_id = (await world.runs.create(asking(), starting("1"), BudgetRequest())).run_id
            while not (below := await world.journal.list_runs(RunFilter(parent_run_id=run_id))):
                await anyio.lowlevel.checkpoint()
            await world.reached(below[0].run_id, RunState.AWAITING_INPUT)
            await world.runs.cancel(run_id, CALLER, "enough")
            events = await seen(world, run_id)
    ends = {event.run_id: event.kind.state for event in events if isinstance(event.kind, RunEnded)}
    assert ends == {run_id: RunState.CANCELLED, below[0].run_id: RunState.CANCELLED}


async def test_text_of_runs_below_is_shown_live(tmp_path: Path) -> None:
    """A child's partial text is streamed live, with the child's id."""
    async with tree_world(tmp_path, {"1": plan("ask")}).working() as world:
        with anyio.fail_after(PATIENCE):
            run_id = (await world.runs.create(asking(), starting("1"), BudgetRequest())).run_id
            while not (below := await world.journal.list_runs(RunFilter(parent_run_id=run_id))):
                await anyio.lowlevel.checkpoint()
            child = await world.reached(below[0].run_id, RunState.AWAITING_INPUT)
            async for batch in TreeWatching(world.journal, world.feed).watch(run_id, 0, {}):
                if texts := [item for item in batch if isinstance(item, TextDelta)]:
                    break
                if any(isinstance(item, Event) and item.seq == child.seq for item in batch):
                    world.feed.update(TextDelta(child.run_id, "s1", "Once", 0))
    assert texts == [TextDelta(child.run_id, "s1", "Once", 0)]


async def test_a_place_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """An unknown run, and numbers that the run or one below it has not reached."""
    async with tree_world(tmp_path, PLANS).working() as world:
        with anyio.fail_after(PATIENCE):
            run_id = await tree(world)
            await world.ended(run_id)
        (child, *_) = [r.run_id for r in await world.journal.list_runs(RunFilter(parent_run_id=run_id))]
        with pytest.raises(NotFoundError):
            await seen(world, "none")
        with pytest.raises(InvalidInputError) as ahead:
            await seen(world, run_id, 999)
        assert (ahead.value.reason, ahead.value.field) == ("SEQ_AHEAD", "after_seq")
        with pytest.raises(InvalidInputError) as ahead:
            await seen(world, run_id, 0, {child: 999})
        assert ahead.value.field == "child_seqs"


async def test_a_subtask_that_never_began_does_not_hold_the_stream(tmp_path: Path) -> None:
    """A child that could not be created is passed over, and the stream ends with its parent."""
    async with tree_world(tmp_path).working() as world:
        with anyio.fail_after(PATIENCE):
            run_id = (await world.runs.create(asking(), starting("x" * 100_000), BudgetRequest())).run_id
            events = await seen(world, run_id)
    assert {event.run_id for event in events} == {run_id}
    assert any(isinstance(e.kind, StepEnded) and e.kind.reason == "SUBTASK_TOO_LONG" for e in events)


async def test_a_daemon_that_stops_says_so(tmp_path: Path) -> None:
    """The stream of a tree that goes on ends with DRAINING when the feed closes."""
    async with tree_world(tmp_path, {"1": plan("ask")}).working() as world:
        with anyio.fail_after(PATIENCE):
            run_id = (await world.runs.create(asking(), starting("1"), BudgetRequest())).run_id
            with pytest.raises(UnavailableError) as stopped:
                async for _ in TreeWatching(world.journal, world.feed).watch(run_id, 0, {}):
                    world.feed.close()
    assert stopped.value.reason == "DRAINING"
