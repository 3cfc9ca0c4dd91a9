"""Sessions of the real daemon: later requests know earlier ones, also after a kill."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond_client import AsyncClient, RunOptions
from aeond_client.errors import NotFoundError, WrongStateError
from aeond_client.events import ReferencesResolved
from aeond_client.records.runs import RunState
from tests.support.collecting import ended
from tests.support.ledgers import chain, deed
from tests.support.stages import Stage, staged


def calls_calculator(expression: str) -> dict[str, Any]:
    return {"calculator": {"expression": expression}}


# By how a prompt ends: each request is one call of the calculator, whose result is the answer.
SCRIPT = {
    "rules": [
        {
            "pattern": r"Assistant: 391\s+Last request: and how much is half of that\?\Z",
            "json": {"found": "391", "request": "How much is half of 391?"},
        },
        {"pattern": r"17 times 23\?\Z", "json": calls_calculator("17 * 23")},
        {"pattern": r"half of 391\?\Z", "json": calls_calculator("391 / 2")},
        {"pattern": r"Result: 391\Z", "json": {"answer": "391"}},
        {"json": {"answer": "195.5"}},
    ]
}


@pytest.fixture
def stage(folder: Path) -> Iterator[Stage]:
    """A daemon with a model that knows these requests, and tools whose deeds are written down."""
    with staged(folder, script=SCRIPT) as stage:
        yield stage


async def asked(client: AsyncClient, text: str, session_id: str) -> tuple[str, list[ReferencesResolved]]:
    """The answer of a run in a session, and what its references were resolved to."""
    resolved: list[ReferencesResolved] = []
    run = await client.create_run(text, RunOptions(session_id=session_id))
    async with client.watch(run.run_id) as events:
        async for event in events:
            if isinstance(event.kind, ReferencesResolved):
                resolved.append(event.kind)
    done = await client.get_run(run.run_id)
    assert done.state is RunState.SUCCEEDED, done
    assert done.answer is not None
    return done.answer.text, resolved


async def test_a_follow_up_knows_what_was_answered(stage: Stage) -> None:
    """A request for "half of that" gives half of the preceding answer, and the recorded request stays
    unchanged."""
    with anyio.fail_after(90):
        async with AsyncClient(stage.socket) as client:
            session = await client.create_session()
            answer, (first,) = await asked(client, "What is 17 times 23?", session.session_id)
            assert (answer, first.resolved, first.context) == ("391", "What is 17 times 23?", "")
            answer, (second,) = await asked(client, "and how much is half of that?", session.session_id)
            assert answer == "195.5"
            assert second.original == "and how much is half of that?"
            assert second.resolved == "How much is half of 391?"
            assert second.context == "User: What is 17 times 23?\nAssistant: 391"
            said = await client.list_messages(session.session_id)
            assert [(message.role, message.text) for message in said] == [
                ("user", "What is 17 times 23?"),
                ("agent", "391"),
                ("user", "and how much is half of that?"),
                ("agent", "195.5"),
            ]
            context = await client.preview_context(session.session_id)
            assert context.text.endswith("User: and how much is half of that?\nAssistant: 195.5")
            assert 0 < context.tokens <= context.max_tokens
            listed = await client.list_sessions()
            assert [(s.title, s.run_count, s.message_count) for s in listed] == [
                ("What is 17 times 23?", 2, 4)
            ]


async def test_sessions_do_not_hear_each_other(stage: Stage) -> None:
    """Messages of one session are not visible in another, nor outside sessions."""
    with anyio.fail_after(90):
        async with AsyncClient(stage.socket) as client:
            one, other = [(await client.create_session(title)).session_id for title in ("one", "other")]
            await asked(client, "What is 17 times 23?", one)
            _, (resolved,) = await asked(client, "What is 17 times 23?", other)
            assert resolved.context == ""
            assert len(await client.list_messages(one)) == len(await client.list_messages(other)) == 2


async def test_each_message_is_there_once_over_kills(stage: Stage) -> None:
    """A daemon that is killed while runs of a session are under way loses none of their messages and
    doubles none."""
    with anyio.fail_after(120):
        async with AsyncClient(stage.socket) as client:
            session_id = (await client.create_session()).session_id
            for number in range(3):
                options = RunOptions(
                    plan=chain(deed("s1", "pure"), deed("s2", "pure")),
                    workspace=str(stage.workspace),
                    session_id=session_id,
                )
                run = await client.create_run(f"deed {number}", options)
                stage.daemon.restart()
                await ended(client, run.run_id)
            said = await client.list_messages(session_id)
        assert [message.text for message in said if message.role == "user"] == ["deed 0", "deed 1", "deed 2"]
        assert [message.role for message in said] == ["user", "agent"] * 3
        assert len({(message.run_id, message.role) for message in said}) == 6


async def test_a_session_is_deleted_when_nothing_goes_on_in_it(stage: Stage) -> None:
    """While a run goes on its session stays; afterwards it goes with its messages, and the run stays."""
    with anyio.fail_after(90):
        async with AsyncClient(stage.socket) as client:
            session_id = (await client.create_session()).session_id
            gate = stage.gate()
            options = RunOptions(
                plan=chain(deed("s1", "pure", gate=gate)),
                workspace=str(stage.workspace),
                session_id=session_id,
            )
            run = await client.create_run("a deed", options)
            with pytest.raises(WrongStateError) as busy:
                await client.delete_session(session_id)
            assert busy.value.reason == "SESSION_BUSY"
            await client.cancel_run(run.run_id)
            await ended(client, run.run_id)
            await client.delete_session(session_id)
            with pytest.raises(NotFoundError):
                await client.list_messages(session_id)
            with pytest.raises(NotFoundError) as unknown:
                await client.create_run("again", RunOptions(session_id=session_id))
            assert unknown.value.reason == "SESSION_NOT_FOUND"
            assert (await client.get_run(run.run_id)).session_id == session_id


async def test_a_conversation_at_the_command_line(stage: Stage) -> None:
    """A session is begun with a request, gone on in by its last one, shown, listed and deleted."""
    printed = await stage.aeonctl("ask", "-q", "--new-session", "What is 17 times 23?")
    assert (printed.code, printed.out) == (0, "391\n"), printed.err
    session_id = printed.err.split()[1].rstrip(":")
    printed = await stage.aeonctl("ask", "-q", "--session", "last", "and how much is half of that?")
    assert (printed.code, printed.out) == (0, "195.5\n"), printed.err
    printed = await stage.aeonctl("sessions", "show", "last")
    assert printed.code == 0
    said = [printed.out.index(words) for words in ("What is 17 times 23?", "391", "half of that?", "195.5")]
    assert said == sorted(said)
    printed = await stage.aeonctl("sessions", "show", "last", "--limit", "1")
    newest = printed.out.partition("\n\n3 earlier messages not shown: see --limit\n")[2]
    assert ("195.5" in newest, "half of that?" in newest) == (True, False)
    as_json = (await stage.aeonctl("sessions", "show", "last", "--limit", "2", "--json")).json_lines
    assert [line["text"] for line in as_json[1:]] == ["and how much is half of that?", "195.5"]
    printed = await stage.aeonctl("sessions", "show", session_id, "--context")
    assert printed.out.startswith("User: What is 17 times 23?\nAssistant: 391\n")
    assert "2 exchanges verbatim" in printed.err
    (listed,) = (await stage.aeonctl("sessions", "list", "--json")).json_lines
    assert listed["session_id"] == session_id
    assert len((await stage.aeonctl("runs", "--session", session_id)).out.splitlines()) == 2
    printed = await stage.aeonctl("sessions", "rm", session_id)
    assert (printed.code, "Its runs remain" in printed.err) == (0, True)
    printed = await stage.aeonctl("sessions")
    assert (printed.code, printed.out) == (0, "")
    assert "There is no session yet" in (await stage.aeonctl("ask", "--session", "last", "hello")).err


async def test_a_name_that_is_given_twice_deletes_one_session(stage: Stage) -> None:
    """`sessions rm last last` deletes the last session and not the one before it."""
    older, newer = [(await stage.aeonctl("sessions", "new", title)).out.strip() for title in ("one", "two")]
    printed = await stage.aeonctl("sessions", "rm", "last", "last")
    assert (printed.code, printed.err.count("Deleted"), newer in printed.err) == (0, 1, True)
    (left,) = (await stage.aeonctl("sessions", "list", "--json")).json_lines
    assert left["session_id"] == older
