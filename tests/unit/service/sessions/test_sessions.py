from pathlib import Path

import pytest

from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.run import Caller, Owner
from aeond.domain.sessions import Session, SessionContext
from aeond.errors import NotFoundError, UnavailableError, WrongStateError
from aeond.ports.journal import RunFilter
from aeond.service.runs.admission import Admission
from aeond.service.sessions.sessions import ENOUGH_CHARS, Sessions
from tests.support.doubles import ManualClock
from tests.support.in_memory_sessions import InMemorySessions
from tests.support.service_world import CALLER, ONE_STEP, USER, NumberedIds, World, asking
from tests.support.sessions import ScriptedContexts, sessions_in_memory


def service(world: World) -> Sessions:
    return Sessions(
        store=world.sessions,
        records=world.records,
        contexts=ScriptedContexts(),
        admission=world.admission,
        clock=world.clock,
        ids=world.ids,
        storage=world.storage,
    )


async def test_a_session_belongs_to_who_made_it(tmp_path: Path) -> None:
    """A new session has an id, the time, its labels and its owner; the same request id gives it again."""
    async with World(tmp_path).working() as world:
        sessions = service(world)
        made = await sessions.create("Trip", {"from": "popup"}, "once", Owner(7, 1))
        assert made == Session(
            made.session_id, "Trip", world.clock.now, world.clock.now, labels={"from": "popup"}, uid=7
        )
        assert await sessions.create("Other", {}, "once", Owner(7, 2)) == made
        assert (await sessions.create("Other", {}, "once", Owner(8, 2))).session_id != made.session_id
        assert await sessions.get(made.session_id, Caller(Owner(7, 3))) == made


async def test_sessions_show_the_journaled_state(tmp_path: Path) -> None:
    """Right after a run has ended its answer is among the messages and counted in the list."""
    async with World(tmp_path).working() as world:
        sessions = service(world)
        made = await sessions.create("", {}, "", USER)
        run = await world.runs.create(asking("do it", session_id=made.session_id), ONE_STEP, BudgetRequest())
        await world.ended(run.run_id)
        (listed,) = await sessions.list_sessions(CALLER, before="", limit=10)
        assert (listed.message_count, listed.run_count, listed.title) == (2, 1, "do it")
        assert len(await sessions.messages(made.session_id, CALLER, after=0, limit=10)) == 2


async def test_a_session_is_deleted_and_its_runs_stay(tmp_path: Path) -> None:
    """After its runs have ended a session can be deleted; its runs are listed all the same."""
    async with World(tmp_path).working() as world:
        sessions = service(world)
        session_id = (await sessions.create("", {}, "", USER)).session_id
        run = await world.runs.create(asking(session_id=session_id), ONE_STEP, BudgetRequest())
        await world.ended(run.run_id)
        await sessions.delete(session_id, CALLER)
        for look in (
            sessions.get(session_id, CALLER),
            sessions.delete(session_id, CALLER),
            sessions.preview(session_id, CALLER),
        ):
            with pytest.raises(NotFoundError) as gone:
                await look
            assert gone.value.reason == "SESSION_NOT_FOUND"
        runs = await world.runs.list_runs(CALLER, RunFilter(session_id=session_id, limit=5))
        assert [summary.run_id for summary in runs] == [run.run_id]


async def test_a_session_at_work_is_kept(tmp_path: Path) -> None:
    """A session with a run that is not known to have ended is not deleted."""
    async with World(tmp_path).working() as world:
        sessions = service(world)
        session_id = (await sessions.create("", {}, "", USER)).session_id
        await world.sessions.begin_run(session_id, "elsewhere", "x", 1.0, USER.uid)
        world.records._unsure.add("elsewhere")
        with pytest.raises(WrongStateError) as busy:
            await sessions.delete(session_id, CALLER)
        assert busy.value.reason == "SESSION_BUSY"


async def test_nothing_is_begun_while_the_daemon_starts() -> None:
    """Before work is admitted sessions are read, and not made, deleted or counted."""
    store = InMemorySessions()
    await store.create(Session("talk", uid=USER.uid), "")
    sessions = sessions_in_memory(ManualClock(), NumberedIds(), store, ScriptedContexts(), Admission())
    for begun in (
        sessions.create("", {}, "", USER),
        sessions.delete("talk", CALLER),
        sessions.preview("talk", CALLER),
    ):
        with pytest.raises(UnavailableError):
            await begun
    assert (await sessions.get("talk", CALLER)).session_id == "talk"
    assert len(await sessions.list_sessions(CALLER, before="", limit=5)) == 1


async def test_messages_fill_a_page(tmp_path: Path) -> None:
    """Though a store gives long messages a few at a time, a page has as many as were asked for, until it is
    more than anybody shows."""
    world = World(tmp_path)
    sessions = service(world)
    world.admission.open()
    session_id = (await sessions.create("", {}, "", USER)).session_id
    for number in range(60):
        await world.sessions.begin_run(session_id, f"r{number}", "x" * 90_000, 1.0, USER.uid)
        await world.sessions.end_run(f"r{number}", None, 2.0)
    assert len(await sessions.messages(session_id, CALLER, after=0, limit=10)) == 10
    assert [m.number for m in await sessions.messages(session_id, CALLER, after=58, limit=10)] == [59, 60]
    most = await sessions.messages(session_id, CALLER, after=0, limit=60)
    assert ENOUGH_CHARS <= sum(len(message.text) for message in most) < 60 * 90_000


async def test_a_preview_is_what_the_orchestration_tells(tmp_path: Path) -> None:
    """The previewed context equals the one that a run would get."""
    async with World(tmp_path).working() as world:
        sessions = service(world)
        session_id = (await sessions.create("", {}, "", USER)).session_id
        assert await sessions.preview(session_id, CALLER) == SessionContext("User: hello", 5, 100, (), 0, 1)


async def test_a_user_at_the_limit_creates_no_session(tmp_path: Path) -> None:
    """A user who can store nothing more is refused a new session and reads the existing ones; another user is not refused."""
    async with World(tmp_path).working() as world:
        sessions = service(world)
        made = await sessions.create("Trip", {}, "", USER)
        world.stored.bytes[USER.uid] = 1_000
        with pytest.raises(WrongStateError) as refused:
            await sessions.create("Another", {}, "", USER)
        assert refused.value.reason == "USER_STORAGE_FULL"
        assert await sessions.get(made.session_id, CALLER) == made
        await sessions.create("Theirs", {}, "", Owner(8, 2))
