"""The calls of SessionService as data, with readers for their replies."""

from typing import Any

from aeond.api.v1 import sessions_pb2
from aeond_client.calls import reading
from aeond_client.calls.call_spec import (
    CHANGE_SECONDS,
    LOOK_SECONDS,
    Call,
    Page,
    PageCall,
    check_unicode,
    page_of,
)
from aeond_client.sessions import Session, SessionContext, SessionMessage

# Counting tokens waits for an engine that is starting.
_COUNT_SECONDS = 300.0

_SESSIONS = sessions_pb2.DESCRIPTOR.services_by_name["SessionService"].methods_by_name


def create_session(title: str, labels: dict[str, str], request_id: str) -> Call[Session]:
    check_unicode("title", title)
    check_unicode("labels", *labels, *labels.values())
    request = sessions_pb2.CreateSessionRequest(request_id=request_id, title=title, labels=labels)
    reply = sessions_pb2.CreateSessionResponse
    return Call(_SESSIONS["CreateSession"], request, reply, _session_of, bool(request_id), CHANGE_SECONDS)


def get_session(session_id: str) -> Call[Session]:
    request = sessions_pb2.GetSessionRequest(session_id=session_id)
    reply = sessions_pb2.GetSessionResponse
    return Call(_SESSIONS["GetSession"], request, reply, _session_of, True, LOOK_SECONDS)


def list_sessions() -> PageCall[Session]:
    def page(token: str, size: int) -> Call[Page[Session]]:
        request = sessions_pb2.ListSessionsRequest(page_size=size, page_token=token)
        read = page_of("sessions", reading.session)
        reply = sessions_pb2.ListSessionsResponse
        return Call(_SESSIONS["ListSessions"], request, reply, read, True, LOOK_SECONDS)

    return page


def delete_session(session_id: str) -> Call[None]:
    request = sessions_pb2.DeleteSessionRequest(session_id=session_id)
    reply = sessions_pb2.DeleteSessionResponse
    # A repeat would report a missing session although this very call had deleted it.
    return Call(_SESSIONS["DeleteSession"], request, reply, _nothing, False, CHANGE_SECONDS)


def list_messages(session_id: str) -> PageCall[SessionMessage]:
    def page(token: str, size: int) -> Call[Page[SessionMessage]]:
        request = sessions_pb2.ListMessagesRequest(session_id=session_id, page_size=size, page_token=token)
        read = page_of("messages", reading.session_message)
        reply = sessions_pb2.ListMessagesResponse
        return Call(_SESSIONS["ListMessages"], request, reply, read, True, LOOK_SECONDS)

    return page


def preview_context(session_id: str) -> Call[SessionContext]:
    request = sessions_pb2.PreviewContextRequest(session_id=session_id)
    reply = sessions_pb2.PreviewContextResponse
    return Call(_SESSIONS["PreviewContext"], request, reply, reading.session_context, True, _COUNT_SECONDS)


def _session_of(reply: Any) -> Session:
    return reading.session(reply.session)


def _nothing(_reply: Any) -> None:
    return None
