"""The calls of SessionService as data."""

from functools import partial
from typing import Any

from aeond.api.v1 import sessions_pb2
from aeond_client.calls.call_spec import (
    CHANGE_SECONDS,
    Call,
    PageCall,
    check_unicode,
    methods_of,
    nothing,
    pages,
)
from aeond_client.calls.reading import read
from aeond_client.records.sessions import Session, SessionContext, SessionMessage

# Counting tokens waits for an engine that is starting.
_COUNT_SECONDS = 300.0

_SESSIONS = methods_of(sessions_pb2.DESCRIPTOR)


def create_session(title: str, labels: dict[str, str], request_id: str) -> Call[Session]:
    check_unicode("title", title)
    check_unicode("labels", *labels, *labels.values())
    request = sessions_pb2.CreateSessionRequest(request_id=request_id, title=title, labels=labels)
    return Call(_SESSIONS["CreateSession"], request, _session_of, bool(request_id), CHANGE_SECONDS)


def get_session(session_id: str) -> Call[Session]:
    return Call(_SESSIONS["GetSession"], sessions_pb2.GetSessionRequest(session_id=session_id), _session_of)


def list_sessions() -> PageCall[Session]:
    return pages(
        _SESSIONS["ListSessions"], sessions_pb2.ListSessionsRequest, "sessions", partial(read, Session)
    )


def delete_session(session_id: str) -> Call[None]:
    request = sessions_pb2.DeleteSessionRequest(session_id=session_id)
    # A repeat would report a missing session although this very call had deleted it.
    return Call(_SESSIONS["DeleteSession"], request, nothing, False, CHANGE_SECONDS)


def list_messages(session_id: str) -> PageCall[SessionMessage]:
    request = partial(sessions_pb2.ListMessagesRequest, session_id=session_id)
    return pages(_SESSIONS["ListMessages"], request, "messages", partial(read, SessionMessage))


def preview_context(session_id: str) -> Call[SessionContext]:
    request = sessions_pb2.PreviewContextRequest(session_id=session_id)
    return Call(_SESSIONS["PreviewContext"], request, partial(read, SessionContext), seconds=_COUNT_SECONDS)


def _session_of(reply: Any) -> Session:
    return read(Session, reply.session)
