from pathlib import Path

import anyio
import pytest

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
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Ancestry, Owner, RunSnapshot, RunState
from aeond.domain.sessions import AnsweredQuestion, Session, SessionDigest
from aeond.errors import AlreadyExistsError, NotFoundError, StoreError
from aeond.ports.journal import RunFilter
from aeond.service.runs.run_queue import RunLimits
from aeond.service.sessions.session_records import answered_questions
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.service_world import CALLER, ONE_STEP, USER, World, asking
from tests.support.trees import plan, tree_world


async def session(world: World, name: str = "talk") -> str:
    await world.sessions.create(Session(name, uid=USER.uid), "")
    return name


async def said(world: World, name: str = "talk") -> list[tuple[Role, str]]:
    return [(message.role, message.text) for message in await world.sessions.messages(name)]


async def test_a_run_leaves_its_request_and_its_answer(tmp_path: Path) -> None:
    """The user's words are recorded when the run is created, and its answer once it has ended."""
    async with World(tmp_path).working() as world:
        await session(world)
        run = await world.runs.create(asking("do it", session_id="talk"), ONE_STEP, BudgetRequest())
        assert (await said(world))[0] == (Role.USER, "do it")
        ended = await world.ended(run.run_id)
        await world.records.settle("talk")
        assert ended.answer is not None
        assert await said(world) == [(Role.USER, "do it"), (Role.AGENT, ended.answer.text)]
        assert await world.sessions.open_runs() == []


async def test_messages_are_in_the_order_in_which_they_were_said(tmp_path: Path) -> None:
    """An answer that existed when the next request arrived precedes it, even if it was not read before."""
    async with World(tmp_path).working() as world:
        await session(world)
        for text in ("first", "second"):
            run = await world.runs.create(asking(text, session_id="talk"), ONE_STEP, BudgetRequest())
            await world.ended(run.run_id)
        await world.records.settle()
        assert [role for role, _ in await said(world)] == [Role.USER, Role.AGENT] * 2


async def test_a_session_is_as_tainted_as_its_runs(tmp_path: Path) -> None:
    """A run that follows a tainted one in the session gets its answer, and its taint; so does one that gets a digest."""
    async with World(tmp_path).working() as world:
        await session(world)
        kind = RunCreated(asking("look it up", session_id="talk"), Budget(), taint=("host:a:1",))
        await world.journal.append([Event("r1", 1, 1.0, 0.0, kind)])
        await world.sessions.begin_run("talk", "r1", "look it up", 1.0, USER.uid)
        assert (await world.records.read("talk", "")).taint == ("host:a:1",)
        await world.sessions.keep_digest("talk", SessionDigest(through=1, taint=("file:/mnt/a",)))
        assert (await world.records.read("talk", "")).taint == ("file:/mnt/a",)


async def test_an_unknown_session_is_refused(tmp_path: Path) -> None:
    """No run is created in a session that is not there."""
    async with World(tmp_path).working() as world:
        with pytest.raises(NotFoundError) as refused:
            await world.runs.create(asking(session_id="nowhere"), ONE_STEP, BudgetRequest())
        assert (refused.value.reason, refused.value.field) == ("SESSION_NOT_FOUND", "session_id")
        assert await world.journal.list_runs() == []


async def test_a_request_that_is_not_admitted_leaves_no_message(tmp_path: Path) -> None:
    """A run that the daemon refuses, for want of room or because its request id is taken, was never said."""
    async with World(tmp_path, limits=RunLimits(running=1, waiting=0)).working() as world:
        await session(world)
        with pytest.raises(Exception, match="runs of all users are waiting"):
            await world.runs.create(asking(session_id="talk"), ONE_STEP, BudgetRequest())
        assert await said(world) == []
        assert await world.sessions.open_runs() == []


async def test_a_repeated_request_is_said_once(tmp_path: Path) -> None:
    """Creating a run again under its request id gives that run and records nothing."""
    async with World(tmp_path).working() as world:
        await session(world)
        asked = asking("do it", session_id="talk", request_id="once")
        first = await world.runs.create(asked, ONE_STEP, BudgetRequest())
        await world.ended(first.run_id)
        again = await world.runs.create(asked, ONE_STEP, BudgetRequest())
        await world.records.settle()
        assert again.run_id == first.run_id
        assert len(await said(world)) == 2


class RefusingJournal(InMemoryJournal):
    """Rejects new runs with a given error."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def append(self, events: object) -> None:
        raise self.error


async def test_of_a_race_for_a_request_id_the_loser_is_not_said(tmp_path: Path) -> None:
    """A creation that the journal refuses because another one won leaves no message."""
    world = World(tmp_path, journal=RefusingJournal(AlreadyExistsError("taken", reason="REQUEST_ID_TAKEN")))
    async with world.working():
        await session(world)
        with pytest.raises(AlreadyExistsError):
            await world.runs.create(asking(session_id="talk", request_id="x"), ONE_STEP, BudgetRequest())
        assert await said(world) == []


async def test_a_creation_that_failed_is_settled_by_the_journal(tmp_path: Path) -> None:
    """After a store failed, whether the run exists is asked of the journal: one it does not know was not said."""
    full = RefusingJournal(StoreError("no room", reason="DISK_FULL"))
    async with World(tmp_path, journal=full).working() as world:
        await session(world)
        with pytest.raises(StoreError):
            await world.runs.create(asking(session_id="talk"), ONE_STEP, BudgetRequest())
        await world.records.settle("talk")
        assert await said(world) == []


async def test_a_crash_between_message_and_journal_leaves_nothing(tmp_path: Path) -> None:
    """A request that was recorded and never journaled is taken back by the next daemon."""
    world = World(tmp_path)
    await session(world)
    await world.sessions.begin_run("talk", "id-9999", "lost", 5.0, USER.uid)
    async with world.reborn().working() as reborn:
        await reborn.records.settle()
        assert await said(reborn) == []


async def test_a_crash_before_the_answer_is_recorded_loses_nothing(tmp_path: Path) -> None:
    """A run that ended without its answer being recorded has it once, however often the session is read."""
    async with World(tmp_path).working() as world:
        await session(world)
        run = await world.runs.create(asking("do it", session_id="talk"), ONE_STEP, BudgetRequest())
        ended = await world.ended(run.run_id)
    async with world.reborn().working() as reborn:
        for _ in range(3):
            await reborn.records.settle()
        assert ended.answer is not None
        assert await said(reborn) == [(Role.USER, "do it"), (Role.AGENT, ended.answer.text)]


async def test_a_creation_in_flight_is_left_alone(tmp_path: Path) -> None:
    """Settling while a run is on its way into the journal does not take its request back."""
    world = World(tmp_path)
    await session(world)
    event = Event("id-1", 1, 5.0, 0.0, RunCreated(asking("do it", session_id="talk"), world.bounds.default))
    async with world.records.beginning(event):
        await world.records.settle()
        assert await said(world) == [(Role.USER, "do it")]
        await world.journal.append([event])
    await world.records.settle()
    assert await said(world) == [(Role.USER, "do it")]


async def test_a_caller_who_leaves_takes_nothing_back(tmp_path: Path) -> None:
    """A creation whose caller is cancelled may still reach the journal: its request stays until that is known."""
    world = World(tmp_path)
    await session(world)
    event = Event("id-1", 1, 5.0, 0.0, RunCreated(asking("do it", session_id="talk"), world.bounds.default))
    with anyio.CancelScope() as scope:
        async with world.records.beginning(event):
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    await world.records.settle()
    assert await said(world) == [(Role.USER, "do it")]
    await world.journal.append([event])
    await world.records.settle()
    assert await world.sessions.open_runs() == ["id-1"]


async def test_a_cancelled_run_has_no_answer(tmp_path: Path) -> None:
    """A run that was cancelled before it answered leaves its request alone, and its session free."""
    world = World(tmp_path, limits=RunLimits(running=1, waiting=4))
    async with world.working():
        await session(world)
        world.planner.gate = anyio.Event()
        run = await world.runs.create(asking("do it", session_id="talk"), None, BudgetRequest())
        await world.runs.cancel(run.run_id, CALLER, "")
        assert (await world.ended(run.run_id)).state is RunState.CANCELLED
        await world.records.settle()
        assert await said(world) == [(Role.USER, "do it")]
        assert await world.sessions.open_runs() == []


async def test_a_run_reads_what_came_before_it(tmp_path: Path) -> None:
    """A run's history is what was asked before it, with the answers, and neither its own words nor later ones."""
    world = World(tmp_path)
    await session(world)
    for run_id in ("r1", "r2", "r3"):
        await world.sessions.begin_run("talk", run_id, f"request {run_id}", 1.0, USER.uid)
    await world.sessions.end_run("r1", "answer r1", 2.0)
    world.records._unsure |= {"r2", "r3"}
    past = await world.records.read("talk", "r2")
    assert past.digest == SessionDigest()
    assert [message.text for message in past.messages] == ["request r1", "answer r1"]
    assert past.open_runs == frozenset()
    everything = await world.records.read("talk", "")
    assert len(everything.messages) == 4
    assert everything.open_runs == {"r2", "r3"}


async def test_a_fork_reads_what_its_original_did(tmp_path: Path) -> None:
    """A fork, and a fork of that, reads what came before the first run's request, and is not written down."""
    async with World(tmp_path).working() as world:
        await session(world)
        runs = []
        for text in ("first", "second", "third"):
            run = await world.runs.create(asking(text, session_id="talk"), ONE_STEP, BudgetRequest())
            runs.append(await world.ended(run.run_id))
        await world.records.settle()
        before = await said(world)
        fork = await world.ended((await world.runs.fork(ForkRequest(runs[1].run_id, CALLER))).run_id)
        again = await world.ended((await world.runs.fork(ForkRequest(fork.run_id, CALLER))).run_id)
        assert runs[0].answer is not None
        for run in (runs[1], fork, again):
            past = await world.records.read("talk", run.run_id)
            assert [message.text for message in past.messages] == ["first", runs[0].answer.text]
        assert await said(world) == before
        assert again.request.session_id == "talk"
        listed = await world.journal.list_runs(RunFilter(session_id="talk"))
        assert {run.run_id for run in listed} >= {fork.run_id, again.run_id}


async def test_a_fork_of_what_a_digest_covers_reads_the_messages(tmp_path: Path) -> None:
    """A fork does not see a digest that covers later messages; it reads the messages instead."""
    async with World(tmp_path).working() as world:
        await session(world)
        for text in ("first", "second", "third"):
            run = await world.runs.create(asking(text, session_id="talk"), ONE_STEP, BudgetRequest())
            await world.ended(run.run_id)
        await world.records.settle()
        second, third = [m for m in await world.sessions.messages("talk") if m.role is Role.USER][1:]
        digest = SessionDigest(through=second.number, exchange_count=2, goal="first", kept=("second",))
        await world.records.keep_digest("talk", digest)
        fork = await world.runs.fork(ForkRequest(second.run_id, CALLER))
        past = await world.records.read("talk", fork.run_id)
        assert past.digest == SessionDigest()
        assert [message.text for message in past.messages if message.role is Role.USER] == ["first"]
        later = await world.runs.fork(ForkRequest(third.run_id, CALLER))
        past = await world.records.read("talk", later.run_id)
        assert (past.digest, past.messages) == (digest, ())


async def test_a_digest_stands_for_what_it_covers(tmp_path: Path) -> None:
    """After a digest was kept only what came later is read, without answers to what it covers."""
    world = World(tmp_path)
    await session(world)
    await world.sessions.begin_run("talk", "r1", "first", 1.0, USER.uid)
    await world.sessions.begin_run("talk", "r2", "second", 1.0, USER.uid)
    await world.sessions.end_run("r1", "one", 2.0)
    await world.sessions.end_run("r2", "two", 2.0)
    await world.records.keep_digest("talk", SessionDigest(through=1, exchange_count=1, goal="first"))
    past = await world.records.read("talk", "")
    assert past.digest.goal == "first"
    assert [message.text for message in past.messages] == ["second", "two"]


async def test_long_answers_are_bounded_and_requests_are_not(tmp_path: Path) -> None:
    """Answers are read up to a limit; requests are read in full."""
    world = World(tmp_path)
    await session(world)
    await world.sessions.begin_run("talk", "r1", "q" * 100_000, 1.0, USER.uid)
    await world.sessions.end_run("r1", "a" * 100_000, 2.0)
    request, answer = (await world.records.read("talk", "")).messages
    assert len(request.text) == 100_000
    assert len(answer.text) < 9_000


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
