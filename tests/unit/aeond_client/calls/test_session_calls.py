import pytest

from aeond.api.v1 import sessions_pb2 as pb
from aeond_client.calls import session_calls
from aeond_client.calls.call_spec import grpc_arguments
from aeond_client.errors import InvalidInputError
from aeond_client.records.sessions import Session, SessionContext, SessionMessage


def test_a_creation_is_repeatable_only_with_a_request_id() -> None:
    """With a request id a lost reply is asked for again; without one a second session would be made."""
    assert session_calls.create_session("t", {"a": "b"}, "once").repeatable
    assert not session_calls.create_session("t", {}, "").repeatable
    assert not session_calls.delete_session("s").repeatable
    assert (
        grpc_arguments(session_calls.get_session("s").method)["method"]
        == "/aeond.api.v1.SessionService/GetSession"
    )


def test_a_session_is_read() -> None:
    """Every field of a session comes through."""
    wire = pb.Session(session_id="s", title="t", message_count=2, run_count=1, labels={"a": "b"}, uid=7)
    wire.created_time.FromMilliseconds(1_500)
    wire.changed_time.FromMilliseconds(2_500)
    read = session_calls.get_session("s").read(pb.GetSessionResponse(session=wire))
    assert read == Session("s", "t", 1.5, 2.5, 2, 1, {"a": "b"}, 7)


def test_messages_are_read_with_their_words() -> None:
    """Text comes as text; content that is none comes as its JSON."""
    page = session_calls.list_messages("s")("", 10)
    reply = pb.ListMessagesResponse(
        messages=[
            pb.Message(role=pb.ROLE_USER, content_json='"h\\u00e9llo"', run_id="r"),
            pb.Message(role=pb.ROLE_AGENT, content_json='{"a": 1}', run_id="r"),
        ],
        next_page_token="more",
    )
    read = page.read(reply)
    assert read.items == (
        SessionMessage("user", "héllo", "r", 0.0),
        SessionMessage("agent", '{"a": 1}', "r", 0.0),
    )
    assert read.next_page_token == "more"


def test_a_context_is_read() -> None:
    """Every field of a context comes through."""
    reply = pb.PreviewContextResponse(
        text="User: a", tokens=5, max_tokens=9, kept=["never"], digested_count=3, whole_count=1
    )
    assert session_calls.preview_context("s").read(reply) == SessionContext("User: a", 5, 9, ("never",), 3, 1)


def test_a_title_is_text() -> None:
    """A title and labels that are no Unicode are refused before anything is sent."""
    for title, labels, field in (
        ("\udc80", {}, "title"),
        ("t", {"\udc80": ""}, "labels"),
        ("t", {"a": "\udc80"}, "labels"),
    ):
        with pytest.raises(InvalidInputError) as refused:
            session_calls.create_session(title, labels, "")
        assert refused.value.field == field
