from pathlib import Path

import anyio

from aeond.domain.messages import Role
from aeond.domain.plans.plan import Plan
from aeond.domain.runs.budgets import Budget, BudgetRequest
from aeond.domain.runs.events import (
    ChildRunEnded,
    Event,
    EventKind,
    InputAnswered,
    InputRequested,
    RunCreated,
)
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Ancestry, Owner, RunSnapshot, RunState
from aeond.domain.sessions import AnsweredQuestion, Session, SessionDigest
from aeond.service.sessions.answered_questions import answered_questions
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.service_world import CALLER, USER, World, asking
from tests.support.trees import plan, tree_world

PATIENCE = 10.0


async def waiting(world: World, planned: Plan) -> RunSnapshot:
    """A run in a session that asks."""
    await world.sessions.create(Session("talk", uid=USER.uid), "")
    run = await world.runs.create(asking("do it", session_id="talk"), planned, BudgetRequest(wall_seconds=60))
    with anyio.fail_after(PATIENCE):
        return await world.reached(run.run_id, RunState.AWAITING_INPUT)


async def test_an_answer_is_recorded_with_its_question(tmp_path: Path) -> None:
    """The next request of the session finds question and answer between request and answer, as agent and user
    said them."""
    async with tree_world(tmp_path).working() as world:
        run = await waiting(world, plan("ask"))
        await world.runs.answer(run.run_id, "s1.1", "red", CALLER)
        with anyio.fail_after(PATIENCE):
            await world.ended(run.run_id)
        past = await world.records.read("talk", "")
    assert [(m.role, m.text) for m in past.messages][:3] == [
        (Role.USER, "do it"),
        (Role.AGENT, "which? (red, blue)"),
        (Role.USER, "red"),
    ]
    assert [m.of_question for m in past.messages] == [False, True, True, False]


async def test_the_answer_to_a_question_is_no_request(tmp_path: Path) -> None:
    """After a digest that covers the request, neither the question nor its answer is read again."""
    async with tree_world(tmp_path).working() as world:
        run = await waiting(world, plan("ask"))
        await world.runs.answer(run.run_id, "s1.1", "red", CALLER)
        with anyio.fail_after(PATIENCE):
            await world.ended(run.run_id)
        await world.records.keep_digest("talk", SessionDigest(through=1, exchange_count=1, goal="do it"))
        assert (await world.records.read("talk", "")).messages == ()


async def test_a_default_is_not_the_users_answer() -> None:
    """A question that its default answered leaves nothing, since the user said nothing."""
    journal = InMemoryJournal()
    question = Question("s1.1", "s1", InputRequest("which?", default="blue", has_default=True), 2.0)
    kinds: tuple[EventKind, ...] = (
        RunCreated(asking("do it"), Budget()),
        InputRequested(question),
        InputAnswered("s1.1", "blue", Owner()),
    )
    await journal.append([Event("r1", seq, float(seq), 0.0, kind) for seq, kind in enumerate(kinds, start=1)])
    assert await answered_questions(journal, "r1") == ()


async def test_questions_of_child_runs_count() -> None:
    """The questions of a child run belong to the run that the user requested."""
    journal = InMemoryJournal()
    question = Question("s1.1", "s1", InputRequest("which?"), 2.0)
    of_child: tuple[EventKind, ...] = (
        RunCreated(asking("paint"), Budget(), ancestry=Ancestry("r1", "s1", ("paint",))),
        InputRequested(question),
        InputAnswered("s1.1", "red", USER),
    )
    of_run: tuple[EventKind, ...] = (
        RunCreated(asking("do it"), Budget()),
        ChildRunEnded("s1", "r2", RunState.SUCCEEDED),
    )
    for run_id, kinds in (("r1", of_run), ("r2", of_child)):
        events = [Event(run_id, seq, float(seq), 0.0, kind) for seq, kind in enumerate(kinds, start=1)]
        await journal.append(events)
    assert await answered_questions(journal, "r1") == (AnsweredQuestion("which?", 2.0, "red", 3.0),)
