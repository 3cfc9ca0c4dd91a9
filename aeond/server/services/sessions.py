"""Implementation of SessionService."""

from aeond.api.v1 import sessions_pb2 as pb
from aeond.domain.runs.run import Caller
from aeond.domain.sessions import MAX_TITLE_CHARS
from aeond.errors import InvalidInputError
from aeond.server.calls import SessionCalls
from aeond.server.wire import checks
from aeond.server.wire.pages import page_of, page_size, page_start
from aeond.server.wire.table import to_wire

SCOPE = "sessions"


class SessionShim:
    def __init__(self, calls: SessionCalls) -> None:
        self._calls = calls

    async def create_session(
        self, request: pb.CreateSessionRequest, caller: Caller
    ) -> pb.CreateSessionResponse:
        session = await self._calls.create(
            checks.one_line(request.title, "title", MAX_TITLE_CHARS).strip(),
            checks.labels(request.labels, "labels"),
            checks.word(request.request_id, "request_id", optional=True),
            caller.owner,
        )
        return pb.CreateSessionResponse(session=to_wire(session, pb.Session))

    async def get_session(self, request: pb.GetSessionRequest, caller: Caller) -> pb.GetSessionResponse:
        session = await self._calls.get(checks.word(request.session_id, "session_id"), caller)
        return pb.GetSessionResponse(session=to_wire(session, pb.Session))

    async def list_sessions(self, request: pb.ListSessionsRequest, caller: Caller) -> pb.ListSessionsResponse:
        size = page_size(request.page_size)
        found = await self._calls.list_sessions(
            caller, before=page_start(request.page_token, SCOPE), limit=size + 1
        )
        shown, token = page_of(found, size, SCOPE, lambda session: session.place)
        return pb.ListSessionsResponse(
            sessions=[to_wire(session, pb.Session) for session in shown], next_page_token=token
        )

    async def delete_session(
        self, request: pb.DeleteSessionRequest, caller: Caller
    ) -> pb.DeleteSessionResponse:
        await self._calls.delete(checks.word(request.session_id, "session_id"), caller)
        return pb.DeleteSessionResponse()

    async def list_messages(self, request: pb.ListMessagesRequest, caller: Caller) -> pb.ListMessagesResponse:
        session_id = checks.word(request.session_id, "session_id")
        size = page_size(request.page_size)
        scope = f"messages of {session_id}"
        after = _number(page_start(request.page_token, scope))
        found = await self._calls.messages(session_id, caller, after=after, limit=size + 1)
        shown, token = page_of(
            found, size, scope, lambda said: str(said.number), weight=lambda said: len(said.text)
        )
        return pb.ListMessagesResponse(
            messages=[to_wire(said, pb.Message) for said in shown], next_page_token=token
        )

    async def preview_context(
        self, request: pb.PreviewContextRequest, caller: Caller
    ) -> pb.PreviewContextResponse:
        context = await self._calls.preview(checks.word(request.session_id, "session_id"), caller)
        return to_wire(context, pb.PreviewContextResponse)


def _number(key: str) -> int:
    if not key:
        return 0
    if not key.isascii() or not key.isdigit() or len(key) > 18:
        raise InvalidInputError(
            "This page token belongs to another list: restart without one.",
            reason="BAD_PAGE_TOKEN",
            field="page_token",
        )
    return int(key)
