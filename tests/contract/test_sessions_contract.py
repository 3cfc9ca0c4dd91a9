"""Guarantees of every session store."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from aeond.capabilities.sessions.sqlite_sessions import SqliteSessions
from aeond.domain.messages import Role
from aeond.domain.sessions import AnsweredQuestion, Session, SessionDigest
from aeond.errors import NotFoundError, WrongStateError
from aeond.ports.sessions import SessionStore
from tests.support.in_memory_sessions import InMemorySessions

ANNA, BERT = 1_000, 1_001


@pytest.fixture(params=["in_memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionStore]:
    if request.param == "in_memory":
        yield InMemorySessions()
        return
    async with SqliteSessions(tmp_path / "sessions.db") as on_disk:
        yield on_disk


def session(session_id: str, time: float = 100.0, uid: int = ANNA) -> Session:
    return Session(session_id, created_time=time, changed_time=time, uid=uid)


async def test_a_session_is_kept_as_it_was_made(store: SessionStore) -> None:
    """A session comes back with its title, times, labels and owner."""
    made = replace(session("a", 12.5), title="Trip", labels={"from": "popup"})
    assert await store.create(made, "") == made
    assert await store.get("a") == made
    assert await store.get("b") is None


async def test_a_request_id_makes_one_session_per_user(store: SessionStore) -> None:
    """The same user gets the same session for the same request id, another user one of their own."""
    first = await store.create(session("a"), "once")
    assert await store.create(session("b"), "once") == first
    assert (await store.create(session("c", uid=BERT), "once")).session_id == "c"
    assert (await store.create(session("d"), "")).session_id == "d"
    assert (await store.create(session("e"), "")).session_id == "e"
    assert await store.get("b") is None


async def test_sessions_are_listed_by_their_last_change(store: SessionStore) -> None:
    """Lists begin with the session that changed last, go on page by page, and move with a new message."""
    for number, name in enumerate("abcde"):
        await store.create(session(name, 100.0 + number), "")
    await store.begin_run("b", "r1", "hello", 900.0, ANNA)
    names: list[str] = []
    before = ""
    while page := await store.list_sessions(before, 2):
        assert len(page) <= 2
        names += [found.session_id for found in page]
        before = page[-1].place
    assert names == ["b", "e", "d", "c", "a"]


async def test_sessions_of_one_moment_are_all_listed(store: SessionStore) -> None:
    """Sessions that changed at the same time each have a place of their own in the list."""
    for name in "abc":
        await store.create(session(name, 100.0), "")
    first = await store.list_sessions("", 1)
    rest = await store.list_sessions(first[0].place, 10)
    assert sorted(found.session_id for found in (*first, *rest)) == ["a", "b", "c"]


async def test_a_run_leaves_two_messages(store: SessionStore) -> None:
    """The request is there when its run has begun and the answer when it has ended, each with its run."""
    await store.create(session("a"), "")
    await store.begin_run("a", "r1", "What is 2 + 2?", 200.0, ANNA)
    assert await store.open_runs("a") == ["r1"]
    await store.end_run("r1", "4", 201.0)
    assert await store.open_runs() == []
    said = await store.messages("a")
    assert [(m.number, m.run_id, m.role, m.text, m.time) for m in said] == [
        (1, "r1", Role.USER, "What is 2 + 2?", 200.0),
        (2, "r1", Role.AGENT, "4", 201.0),
    ]
    after = await store.get("a")
    assert after is not None
    assert (after.message_count, after.run_count, after.changed_time) == (2, 1, 201.0)


async def test_repeats_change_nothing(store: SessionStore) -> None:
    """Beginning and ending a run again, as after a crash, leaves one request and one answer."""
    await store.create(session("a"), "")
    for _ in range(3):
        await store.begin_run("a", "r1", "hello", 200.0, ANNA)
    for time in (201.0, 202.0):
        await store.end_run("r1", "hi", time)
    await store.begin_run("a", "r1", "hello", 203.0, ANNA)
    assert [message.text for message in await store.messages("a")] == ["hello", "hi"]
    assert await store.open_runs("a") == []


async def test_a_run_may_end_without_an_answer(store: SessionStore) -> None:
    """A cancelled run is closed and leaves its request alone."""
    await store.create(session("a"), "")
    await store.begin_run("a", "r1", "hello", 200.0, ANNA)
    await store.end_run("r1", None, 201.0)
    assert [message.role for message in await store.messages("a")] == [Role.USER]
    assert await store.open_runs("a") == []


async def test_answered_questions_are_messages(store: SessionStore) -> None:
    """A question and its answer are said by agent and user, before the answer of the run, and once."""
    await store.create(session("a"), "")
    await store.begin_run("a", "r1", "Book a table.", 200.0, ANNA)
    asked = AnsweredQuestion("For how many?", 201.0, "four", 202.0)
    for _ in range(2):
        await store.end_run("r1", "Booked.", 203.0, (asked,))
    said = await store.messages("a")
    assert [(m.number, m.role, m.text, m.time, m.of_question) for m in said] == [
        (1, Role.USER, "Book a table.", 200.0, False),
        (2, Role.AGENT, "For how many?", 201.0, True),
        (3, Role.USER, "four", 202.0, True),
        (4, Role.AGENT, "Booked.", 203.0, False),
    ]
    after = await store.get("a")
    assert after is not None
    assert (after.message_count, after.run_count, after.changed_time) == (4, 1, 203.0)


async def test_a_cancelled_run_keeps_its_answered_questions(store: SessionStore) -> None:
    """The user's answer is recorded even if the run has no answer."""
    await store.create(session("a"), "")
    await store.begin_run("a", "r1", "Book a table.", 200.0, ANNA)
    await store.end_run("r1", None, 203.0, (AnsweredQuestion("For how many?", 201.0, "four", 202.0),))
    assert [m.text for m in await store.messages("a")] == ["Book a table.", "For how many?", "four"]


async def test_a_run_that_never_was_is_taken_back(store: SessionStore) -> None:
    """Forgetting an open run removes its request and its count; an ended one is left alone."""
    await store.create(session("a"), "")
    await store.begin_run("a", "r1", "kept", 200.0, ANNA)
    await store.end_run("r1", "yes", 201.0)
    await store.begin_run("a", "r2", "lost", 202.0, ANNA)
    for run_id in ("r1", "r2", "r2", "unknown"):
        await store.forget_run(run_id)
    assert [message.text for message in await store.messages("a")] == ["kept", "yes"]
    after = await store.get("a")
    assert after is not None
    assert (after.message_count, after.run_count) == (2, 1)
    await store.begin_run("a", "r3", "next", 203.0, ANNA)
    assert [message.text for message in await store.messages("a", after=2)] == ["next"]


async def test_several_runs_are_open_at_once(store: SessionStore) -> None:
    """Open runs are listed by session, in the order in which they began."""
    for name in "ab":
        await store.create(session(name), "")
    for run_id, name in (("r3", "a"), ("r1", "b"), ("r2", "a")):
        await store.begin_run(name, run_id, run_id, 200.0, ANNA)
    assert await store.open_runs("a") == ["r3", "r2"]
    assert sorted(await store.open_runs()) == ["r1", "r2", "r3"]


async def test_a_run_needs_its_session(store: SessionStore) -> None:
    """No run begins in a session that is not there, and none is left open by trying."""
    with pytest.raises(NotFoundError) as refused:
        await store.begin_run("nowhere", "r1", "hello", 200.0, ANNA)
    assert (refused.value.reason, refused.value.field) == ("SESSION_NOT_FOUND", "session_id")
    assert await store.open_runs() == []


async def test_a_deleted_session_is_gone(store: SessionStore) -> None:
    """Deleting removes a session with its messages, and only that one; a repeat finds nothing."""
    for name in "ab":
        await store.create(session(name), "")
        await store.begin_run(name, f"r{name}", "hello", 200.0, ANNA)
        await store.end_run(f"r{name}", "hi", 201.0)
    await store.delete("a")
    assert await store.get("a") is None
    assert list(await store.messages("a")) == []
    assert len(await store.messages("b")) == 2
    with pytest.raises(NotFoundError):
        await store.delete("a")


async def test_a_session_at_work_is_not_deleted(store: SessionStore) -> None:
    """While a run is open its session stays; once it is closed the session may go."""
    await store.create(session("a"), "")
    await store.begin_run("a", "r1", "hello", 200.0, ANNA)
    with pytest.raises(WrongStateError) as refused:
        await store.delete("a")
    assert refused.value.reason == "SESSION_BUSY"
    assert len(await store.messages("a")) == 1
    await store.end_run("r1", "hi", 201.0)
    await store.delete("a")
    assert await store.get("a") is None


async def test_the_first_request_is_the_title(store: SessionStore) -> None:
    """A session without a title is named by its first request, on one line; a given title stays."""
    await store.create(session("a"), "")
    await store.create(replace(session("b"), title="Mine"), "")
    for number, name in enumerate("aab"):
        await store.begin_run(name, f"r{number}", f"Plan\n the trip {number} " + "x" * 500, 200.0, ANNA)
    a, b = await store.get("a"), await store.get("b")
    assert a is not None
    assert b is not None
    assert a.title.startswith("Plan the trip 0 x")
    assert len(a.title) == 80
    assert b.title == "Mine"


async def test_messages_come_in_pages(store: SessionStore) -> None:
    """Messages are read after a number, at most so many and no more once a page is full."""
    await store.create(session("a"), "")
    for number in range(5):
        await store.begin_run("a", f"r{number}", "x" * 100_000, 200.0 + number, ANNA)
        await store.end_run(f"r{number}", "y", 200.5 + number)
    assert [m.number for m in await store.messages("a", after=3, limit=2)] == [4, 5]
    assert [m.number for m in await store.messages("a")] == [1, 2, 3, 4, 5]
    assert [m.number for m in await store.messages("a", limit=0)] == [1]
    assert list(await store.messages("a", after=10)) == []


async def test_a_digest_only_reaches_further(store: SessionStore) -> None:
    """A digest is kept whole, replaced by one that reaches as far or further, and gone with its session."""
    await store.create(session("a"), "")
    assert await store.digest("a") == SessionDigest()
    kept = SessionDigest(7, 4, "a goal", ("never \N{SNOWMAN}",), ("why?",), "- some")
    await store.keep_digest("a", kept)
    await store.keep_digest("a", replace(kept, through=5, goal="older"))
    assert await store.digest("a") == kept
    further = replace(kept, through=9, summary="more")
    await store.keep_digest("a", further)
    assert await store.digest("a") == further
    await store.delete("a")
    await store.keep_digest("a", further)
    assert await store.digest("a") == SessionDigest()


async def test_a_user_lists_and_continues_only_own_sessions(store: SessionStore) -> None:
    """Lists of one user leave out others' sessions on every page, and no run begins in another user's session."""
    for number, uid in enumerate([ANNA, BERT, ANNA]):
        await store.create(session(f"s{number}", 100.0 + number, uid), "")
    newest = await store.list_sessions("", 1, ANNA)
    rest = await store.list_sessions(newest[0].place, 9, ANNA)
    assert [found.session_id for found in (*newest, *rest)] == ["s2", "s0"]
    assert [found.session_id for found in await store.list_sessions("", 9, BERT)] == ["s1"]
    assert len(await store.list_sessions()) == 3
    with pytest.raises(NotFoundError) as refused:
        await store.begin_run("s1", "r1", "hello", 200.0, ANNA)
    assert refused.value.reason == "SESSION_NOT_FOUND"
    assert await store.open_runs() == []
    assert await store.messages("s1") == []
