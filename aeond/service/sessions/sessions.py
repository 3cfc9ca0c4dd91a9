"""Session operations for clients."""

from collections.abc import Mapping, Sequence
from typing import Final

from aeond.domain.runs.run import Caller, Owner
from aeond.domain.sessions import Session, SessionContext, SessionMessage
from aeond.errors import NotFoundError
from aeond.frozen import frozen
from aeond.ports import Clock, Ids
from aeond.ports.sessions import SessionContexts, SessionStore
from aeond.service.runs.admission import Admission
from aeond.service.sessions.session_records import SessionRecords
from aeond.service.storage import StorageLimit

# Twice the size of an API page, and more than its largest message.
ENOUGH_CHARS: Final = 2 << 20


@frozen
class Sessions:
    """Create, read, list, delete. Results are consistent with the journal."""

    store: SessionStore
    records: SessionRecords
    contexts: SessionContexts
    admission: Admission
    clock: Clock
    ids: Ids
    storage: StorageLimit

    async def create(self, title: str, labels: Mapping[str, str], request_id: str, owner: Owner) -> Session:
        """The new session, or the one that this owner created with this request id before. WrongStateError if the owner
        can store nothing more (see `StorageLimit`).
        """
        self.admission.check()
        self.storage.check(owner.uid)
        now = self.clock.time()
        session = Session(self.ids.new_id(), title, now, now, labels=dict(labels), uid=owner.uid)
        return await self.store.create(session, request_id)

    async def get(self, session_id: str, caller: Caller) -> Session:
        """NotFoundError (reason SESSION_NOT_FOUND), in the same words for a session that the caller does not see."""
        await self._check(session_id, caller)
        await self.records.settle(session_id)
        return await self._check(session_id, caller)

    async def list_sessions(self, caller: Caller, *, before: str, limit: int) -> Sequence[Session]:
        """Those that the caller sees, most recently changed first; `before` is the place of the session that precedes the page."""
        await self.records.settle()
        return await self.store.list_sessions(before, limit, caller.sees_only)

    async def delete(self, session_id: str, caller: Caller) -> None:
        """Deletes the session with its messages; its runs stay in the journal. NotFoundError as in `get`;
        WrongStateError (reason SESSION_BUSY) while one of its runs is unfinished.
        """
        self.admission.check()
        await self._check(session_id, caller)
        await self.records.settle(session_id)
        await self.store.delete(session_id)

    async def messages(
        self, session_id: str, caller: Caller, *, after: int, limit: int
    ) -> Sequence[SessionMessage]:
        """Messages after number `after`, oldest first; fewer than `limit` only at the end or above the size
        of a page. NotFoundError as in `get`.
        """
        await self.get(session_id, caller)
        said: list[SessionMessage] = []
        chars = 0
        while len(said) < limit and chars < ENOUGH_CHARS:
            page = await self.store.messages(
                session_id, said[-1].number if said else after, limit - len(said)
            )
            if not page:
                break
            said += page
            chars += sum(len(message.text) for message in page)
        return said

    async def preview(self, session_id: str, caller: Caller) -> SessionContext:
        """The context that a model would see now. NotFoundError as in `get`. Counting tokens may wait for the
        engine, and fails with its errors.
        """
        self.admission.check()
        await self.get(session_id, caller)
        return await self.contexts.preview(session_id)

    async def _check(self, session_id: str, caller: Caller) -> Session:
        session = await self.store.get(session_id)
        if session is None or not caller.sees(session.uid):
            raise NotFoundError(
                f"session {session_id!r} does not exist: list the sessions to see the existing ones",
                reason="SESSION_NOT_FOUND",
                field="session_id",
            )
        return session
