"""Answers of people, through the real kernel and scheduler."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from aeond.domain.plans.plan import Plan, StepState
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import Event, InputAnswered
from aeond.domain.runs.run import Resolution, RunSnapshot, RunState
from aeond.domain.tools import Effect
from aeond.domain.values import JsonValue
from aeond.errors import InvalidInputError, NotFoundError, OverloadedError, WrongStateError
from aeond.service.history.replays import Replay
from aeond.service.recovery.disk_space import PROBE_SECONDS
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold
from tests.support.doubles import ScriptedTool
from tests.support.full_journal import FullDisk
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.service_world import CALLER, USER, World, asking
from tests.support.strategy import calls
from tests.support.trees import next_daemon, plan, tree_world

PATIENCE = 10.0


async def waiting(world: World, planned: Plan | None = None) -> RunSnapshot:
    """A run that asks."""
    created = await world.runs.create(asking(), planned or plan("ask"), BudgetRequest(wall_seconds=60))
    with anyio.fail_after(PATIENCE):
        return await world.reached(created.run_id, RunState.AWAITING_INPUT)


BOTH = Plan("a goal", (calls("s1", "ask"), calls("s2", "count"), calls("s3", "work", "s1", "s2")))


async def test_the_answer_is_the_result_of_the_step(tmp_path: Path) -> None:
    """The run continues at once and ends; its journal contains the author of the answer."""
    async with tree_world(tmp_path).working() as world:
        run = await waiting(world)
        await world.runs.answer(run.run_id, "s1.1", "red", CALLER)
        with anyio.fail_after(PATIENCE):
            ended = await world.ended(run.run_id)
        kinds = [event.kind for event in await world.journal.read(run.run_id)]
    assert (ended.state, ended.steps["s1"].output) == (RunState.SUCCEEDED, "red")
    assert InputAnswered("s1.1", "red", USER) in kinds


@pytest.mark.parametrize(
    ("question_id", "answer"), [("s1.1", "green"), ("s1.1", 1), ("s2.1", "many"), ("s2.1", 0), ("s2.1", None)]
)
async def test_an_answer_that_does_not_fit_leaves_the_question_open(
    tmp_path: Path, question_id: str, answer: JsonValue
) -> None:
    """None of the options, or not what the schema asks for: refused with what is wrong."""
    async with tree_world(tmp_path).working() as world:
        run = await waiting(world, BOTH)
        with pytest.raises(InvalidInputError) as refused:
            await world.runs.answer(run.run_id, question_id, answer, CALLER)
        assert (refused.value.reason, refused.value.field) == ("ANSWER_INVALID", "answer_json")
        assert len((await world.runs.get(run.run_id, CALLER)).questions) == 2


async def test_one_question_needs_no_name_and_two_do(tmp_path: Path) -> None:
    """With several open questions it must be said which is meant; each answer is its own step's."""
    async with tree_world(tmp_path).working() as world:
        run = await waiting(world, BOTH)
        with pytest.raises(InvalidInputError, match=r"s1.1, s2.1") as ambiguous:
            await world.runs.answer(run.run_id, "", "red", CALLER)
        assert (ambiguous.value.reason, ambiguous.value.field) == ("QUESTION_AMBIGUOUS", "question_id")
        await world.runs.answer(run.run_id, "s2.1", 3, CALLER)
        still = await world.runs.answer(run.run_id, "", "blue", CALLER)
        with anyio.fail_after(PATIENCE):
            ended = await world.ended(still.run_id)
    assert [ended.steps[name].output for name in ("s1", "s2")] == ["blue", 3]


async def test_the_first_answer_wins_also_among_equals(tmp_path: Path) -> None:
    """Of many concurrent answers, equal ones included, exactly one is accepted."""
    taken: list[str] = []
    async with tree_world(tmp_path).working() as world:
        run = await waiting(world)

        async def answer(word: str) -> None:
            try:
                await world.runs.answer(run.run_id, "", word, CALLER)
            except WrongStateError as error:
                assert error.reason == "QUESTION_NOT_OPEN"
            else:
                taken.append(word)

        async with anyio.create_task_group() as group:
            for word in ("red", "red", "blue", "red", "blue"):
                group.start_soon(answer, word)
        with anyio.fail_after(PATIENCE):
            ended = await world.ended(run.run_id)
    assert len(taken) == 1
    assert ended.steps["s1"].output == taken[0]


class HeldJournal(InMemoryJournal):
    """Records nothing more of one run until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.held = ""
        self.let_go = anyio.Event()

    async def append(self, events: Sequence[Event]) -> None:
        if events[0].run_id == self.held:
            await self.let_go.wait()
        await super().append(events)


async def test_runs_are_answered_apart(tmp_path: Path) -> None:
    """An answer that takes long to be recorded keeps no other run from being answered."""
    journal = HeldJournal()
    async with tree_world(tmp_path, journal=journal).working() as world:
        slow, quick = await waiting(world), await waiting(world)
        journal.held = slow.run_id
        with anyio.fail_after(6 * PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(world.runs.answer, slow.run_id, "", "red", CALLER)
                await anyio.wait_all_tasks_blocked()
                with anyio.move_on_after(PATIENCE):
                    await world.runs.answer(quick.run_id, "", "blue", CALLER)
                answered = await world.runs.get(quick.run_id, CALLER)
                journal.let_go.set()
            assert (await world.ended(slow.run_id)).steps["s1"].output == "red"
    assert answered.steps["s1"].output == "blue"


async def test_an_answer_without_a_question_is_refused(tmp_path: Path) -> None:
    """A run that is not there, a run that asks nothing, and a question that never was."""
    async with tree_world(tmp_path).working() as world:
        with pytest.raises(NotFoundError):
            await world.runs.answer("none", "", "red", CALLER)
        silent = await world.runs.create(asking(), plan("work"), BudgetRequest())
        asks = await waiting(world)
        for run_id, question_id in ((silent.run_id, ""), (silent.run_id, "s1.1"), (asks.run_id, "s9.1")):
            with pytest.raises(WrongStateError) as never:
                await world.runs.answer(run_id, question_id, "red", CALLER)
            assert never.value.reason == "QUESTION_NOT_OPEN"


async def test_a_run_that_waits_holds_no_place_and_burns_no_time(tmp_path: Path) -> None:
    """An hour of waiting is nothing to a run of one minute, and another run has its place meanwhile."""
    async with tree_world(tmp_path).working() as world:
        run = await waiting(world)
        with anyio.fail_after(PATIENCE):
            while world.scheduler.running_count:
                await anyio.lowlevel.checkpoint()
        assert world.scheduler.attention_count == 1
        world.clock.advance(3_600)
        await world.runs.answer(run.run_id, "", "red", CALLER)
        with anyio.fail_after(PATIENCE):
            ended = await world.ended(run.run_id)
    assert ended.state is RunState.SUCCEEDED
    assert ended.elapsed_seconds < 60


async def test_a_question_outlives_its_daemon_with_work_beside_it(tmp_path: Path) -> None:
    """A daemon that died while one step asked and another worked: the next one works on and takes the answer."""
    gate = anyio.Event()

    async def wait(_arguments: object, _context: object) -> JsonValue:
        await gate.wait()
        return "done"

    world = tree_world(tmp_path)
    world.tools["work"].run = wait
    side_by_side = Plan("a goal", (calls("s1", "ask"), calls("s2", "work"), calls("s3", "count", "s1", "s2")))
    async with world.working():
        run = await waiting(world, side_by_side)
    gate.set()
    async with next_daemon(world).working() as after:
        with anyio.fail_after(PATIENCE):
            while (await after.runs.get(run.run_id, CALLER)).steps["s2"].state is not StepState.SUCCEEDED:
                await anyio.lowlevel.checkpoint()
            await after.runs.answer(run.run_id, "s1.1", "red", CALLER)
            await after.reached(run.run_id, RunState.AWAITING_INPUT)
            await after.runs.answer(run.run_id, "s3.1", 2, CALLER)
            ended = await after.ended(run.run_id)
    assert ended.state is RunState.SUCCEEDED


async def test_a_suspended_run_takes_answers(tmp_path: Path) -> None:
    """A run that waits for a decision too takes an answer, waits on, and goes on with it once that is made."""
    never = anyio.Event()

    async def hang(_arguments: object, _context: object) -> JsonValue:
        await never.wait()
        return None

    world = tree_world(tmp_path)
    world.tools["hang"] = ScriptedTool("hang", hang, Effect.NET)
    side_by_side = Plan("a goal", (calls("s1", "ask"), calls("s2", "hang"), calls("s3", "work", "s1", "s2")))
    async with world.working():
        run = await waiting(world, side_by_side)
        with anyio.fail_after(PATIENCE):
            while not world.tools["hang"].calls:
                await anyio.lowlevel.checkpoint()
    async with next_daemon(world).working() as after:
        with anyio.fail_after(PATIENCE):
            await after.reached(run.run_id, RunState.SUSPENDED)
            answered = await after.runs.answer(run.run_id, "", "red", CALLER)
            assert (answered.state, answered.questions) == (RunState.SUSPENDED, ())
            summary = await after.journal.summary(run.run_id)
            assert summary is not None
            assert summary.state is RunState.SUSPENDED
            with pytest.raises(WrongStateError):
                await after.runs.answer(run.run_id, "s1.1", "blue", CALLER)
            await after.runs.decide(run.run_id, "s2", Resolution.DONE, CALLER)
            ended = await after.ended(run.run_id)
        events = await after.journal.read(run.run_id)
    assert (ended.state, ended.steps["s1"].output) == (RunState.SUCCEEDED, "red")
    replay = Replay(run.run_id, decide, fold)
    assert [replay.next(event) for event in events] == list(events)


async def test_an_answer_to_a_run_without_room_on_the_disk_is_taken_once_there_is(tmp_path: Path) -> None:
    """Its first answer finds no room and suspends the run; the next one counts, and the run goes on by itself."""
    journal = FullDisk(room=100)
    async with tree_world(tmp_path, journal=journal).working() as world:
        run = await waiting(world)
        journal.room = 0
        with pytest.raises(OverloadedError):
            await world.runs.answer(run.run_id, "", "blue", CALLER)
        journal.room = 100
        answered = await world.runs.answer(run.run_id, "", "red", CALLER)
        assert (answered.state, answered.questions) == (RunState.SUSPENDED, ())
        with anyio.fail_after(PATIENCE):
            while world.scheduler.running_count:
                await anyio.lowlevel.checkpoint()
            world.clock.advance(PROBE_SECONDS)
            ended = await world.ended(run.run_id)
    assert (ended.state, ended.steps["s1"].output) == (RunState.SUCCEEDED, "red")


async def test_a_question_lapses_while_its_run_has_no_loop(tmp_path: Path) -> None:
    """A question of an inactive run times out and gets its default answer."""
    asked = plan("ask", default="blue", deadline_seconds=30)
    async with tree_world(tmp_path).working() as world:
        run = await waiting(world, asked)
        with anyio.fail_after(PATIENCE):
            while world.scheduler.running_count:
                await anyio.lowlevel.checkpoint()
            world.clock.advance(31)
            ended = await world.ended(run.run_id)
    assert ended.steps["s1"].output == "blue"
