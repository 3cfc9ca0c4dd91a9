"""Sessions: what clients may ask about them."""

from collections.abc import Mapping, Sequence
from typing import Final

from aeond.domain.runs import Owner
from aeond.domain.sessions import Session, SessionContext, SessionMessage
from aeond.errors import NotFoundError
from aeond.ports import Clock, Ids
from aeond.ports.sessions import SessionContexts, SessionStore
from aeond.service.admission import Admission
from aeond.service.session_records import SessionRecords

# Twice what a page of the API shows, and more than its largest message.
ENOUGH_CHARS: Final = 2 << 20


class Sessions:
    """Make, look, list, delete. What is shown is in step with the journal."""

    def __init__(
        self,
        *,
        store: SessionStore,
        records: SessionRecords,
        contexts: SessionContexts,
        admission: Admission,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._store = store
        self._records = records
        self._contexts = contexts
        self._admission = admission
        self._clock = clock
        self._ids = ids

    async def create(self, title: str, labels: Mapping[str, str], request_id: str, owner: Owner) -> Session:
        """The new session, or the one that this owner made under this request id before."""
        self._admission.check()
        now = self._clock.time()
        session = Session(self._ids.new_id(), title, now, now, labels=dict(labels), uid=owner.uid)
        return await self._store.create(session, request_id)

    async def get(self, session_id: str) -> Session:
        """NotFoundError (reason SESSION_NOT_FOUND)."""
        await self._records.settle(session_id)
        session = await self._store.get(session_id)
        if session is None:
            raise NotFoundError(
                f"there is no session {session_id!r}: list the sessions to see which there are",
                reason="SESSION_NOT_FOUND",
                field="session_id",
            )
        return session

    async def list_sessions(self, *, before: str, limit: int) -> Sequence[Session]:
        """The one changed last first; `before` is the place of the session that the page comes after."""
        await self._records.settle()
        return await self._store.list_sessions(before, limit)

    async def delete(self, session_id: str) -> None:
        """Removes the session and what was said in it; its runs stay in the journal. NotFoundError as
        `get`; WrongStateError (reason SESSION_BUSY) while one of its runs has not ended."""
        self._admission.check()
        await self._records.settle(session_id)
        await self._store.delete(session_id)

    async def messages(self, session_id: str, *, after: int, limit: int) -> Sequence[SessionMessage]:
        """What was said, oldest first, after the message numbered `after`; fewer than `limit` only at the
        end, or once it is more than any page shows. NotFoundError as `get`."""
        await self.get(session_id)
        said: list[SessionMessage] = []
        chars = 0
        while len(said) < limit and chars < ENOUGH_CHARS:
            page = await self._store.messages(
                session_id, said[-1].number if said else after, limit - len(said)
            )
            if not page:
                break
            said += page
            chars += sum(len(message.text) for message in page)
        return said

    async def preview(self, session_id: str) -> SessionContext:
        """What a model would be told of the session now. NotFoundError as `get`; counting may wait for
        the engine, and fail as it does."""
        self._admission.check()
        await self.get(session_id)
        return await self._contexts.preview(session_id)
