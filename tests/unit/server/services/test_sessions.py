import json
import os

import grpc
import pytest

from aeond.api.v1 import sessions_pb2 as pb
from aeond.domain.sessions import Session, SessionContext
from tests.support.api_world import ApiWorld, Stubs, refused

UID = os.getuid()


async def test_a_session_is_made_and_looked_at(client: Stubs) -> None:
    """A session has its id, title, labels, times and the user who made it; a repeat gives the same one."""
    asked = pb.CreateSessionRequest(request_id="once", title=" Trip ", labels={"from": "popup"})
    made = (await client.sessions.CreateSession(asked)).session
    again = (await client.sessions.CreateSession(asked)).session
    looked_at = (await client.sessions.GetSession(pb.GetSessionRequest(session_id=made.session_id))).session
    assert made == again == looked_at
    assert (made.title, dict(made.labels), made.message_count, made.run_count) == (
        "Trip",
        {"from": "popup"},
        0,
        0,
    )
    assert made.uid >= 0
    assert made.created_time.seconds > 0


async def test_sessions_are_listed_page_by_page(world: ApiWorld, client: Stubs) -> None:
    """All sessions come once each, the one changed last first, in pages."""
    for number in range(5):
        await world.behind.sessions.create(Session(f"s{number}", changed_time=float(number), uid=UID), "")
    seen: list[str] = []
    token = ""
    while True:
        page = await client.sessions.ListSessions(pb.ListSessionsRequest(page_size=2, page_token=token))
        seen += [session.session_id for session in page.sessions]
        token = page.next_page_token
        if not token:
            break
    assert seen == ["s4", "s3", "s2", "s1", "s0"]


async def test_messages_are_listed_page_by_page(world: ApiWorld, client: Stubs) -> None:
    """Messages are listed in order with author and run, also if they are large."""
    store = world.behind.sessions
    await store.create(Session("talk", uid=UID), "")
    for number in range(6):
        await store.begin_run("talk", f"r{number}", "x" * 100_000 + f"?{number}", 100.25, UID)
        await store.end_run(f"r{number}", "y" * 100_000, 200.0)
    seen: list[pb.Message] = []
    pages, token = 0, ""
    while True:
        page = await client.sessions.ListMessages(pb.ListMessagesRequest(session_id="talk", page_token=token))
        seen += page.messages
        pages += 1
        token = page.next_page_token
        if not token:
            break
    assert pages == 2
    assert [message.run_id for message in seen] == [f"r{n}" for n in range(6) for _ in range(2)]
    assert [message.role for message in seen] == [pb.ROLE_USER, pb.ROLE_AGENT] * 6
    assert json.loads(seen[2].content_json).endswith("?1")
    assert seen[0].time.ToMilliseconds() == 100_250


async def test_a_deleted_session_is_gone(world: ApiWorld, client: Stubs) -> None:
    """A deleted session is not found any more by any call; one with a run that goes on is not deleted."""
    store = world.behind.sessions
    await store.create(Session("talk", uid=UID), "")
    await client.sessions.DeleteSession(pb.DeleteSessionRequest(session_id="talk"))
    for call, request in (
        (client.sessions.GetSession, pb.GetSessionRequest(session_id="talk")),
        (client.sessions.DeleteSession, pb.DeleteSessionRequest(session_id="talk")),
        (client.sessions.ListMessages, pb.ListMessagesRequest(session_id="talk")),
        (client.sessions.PreviewContext, pb.PreviewContextRequest(session_id="talk")),
    ):
        async with refused(grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND", "session_id"):
            await call(request)  # type: ignore[arg-type]  # each call with its own request


async def test_the_context_is_shown_as_a_model_reads_it(world: ApiWorld, client: Stubs) -> None:
    """The preview has the context's text, its size and its quoted lines."""
    await world.behind.sessions.create(Session("talk", uid=UID), "")
    world.behind.contexts.context = SessionContext("User: größer", 12, 100, ("never",), 3, 1)
    shown = await client.sessions.PreviewContext(pb.PreviewContextRequest(session_id="talk"))
    assert shown == pb.PreviewContextResponse(
        text="User: größer", tokens=12, max_tokens=100, kept=["never"], digested_count=3, whole_count=1
    )


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (pb.CreateSessionRequest(title="t" * 201), "TOO_LONG", "title"),
        (pb.CreateSessionRequest(request_id="a\nb"), "UNPRINTABLE", "request_id"),
        (pb.CreateSessionRequest(labels={"": "x"}), "EMPTY", "labels"),
    ],
)
async def test_a_session_out_of_form_is_refused(
    world: ApiWorld, client: Stubs, request_: pb.CreateSessionRequest, reason: str, field: str
) -> None:
    """Titles, ids and labels out of form are refused and no session is made."""
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, reason, field):
        await client.sessions.CreateSession(request_)
    assert await world.behind.sessions.list_sessions() == []


async def test_a_token_of_another_session_is_refused(world: ApiWorld, client: Stubs) -> None:
    """A page token goes with one session's messages and with nothing else."""
    store = world.behind.sessions
    for name in ("a", "b"):
        await store.create(Session(name, uid=UID), "")
        await store.begin_run(name, f"r{name}", "hello", 1.0, UID)
        await store.end_run(f"r{name}", "hi", 2.0)
    page = await client.sessions.ListMessages(pb.ListMessagesRequest(session_id="a", page_size=1))
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, "BAD_PAGE_TOKEN", "page_token"):
        await client.sessions.ListMessages(
            pb.ListMessagesRequest(session_id="b", page_token=page.next_page_token)
        )
