"""Sessions in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from anyio.lowlevel import cancel_shielded_checkpoint, checkpoint, checkpoint_if_cancelled

from aeond.capabilities.sessions.rules import (
    PAGE_BYTES,
    page_limit,
    session_busy,
    session_not_found,
    title_of,
)
from aeond.domain.messages import Role
from aeond.domain.sessions import AnsweredQuestion, Session, SessionDigest, SessionMessage


@dataclass(eq=False, slots=True)
class _Kept:
    """A session with its data."""

    session: Session
    request_id: str
    last_number: int = 0
    messages: list[SessionMessage] = field(default_factory=list)
    digest: SessionDigest = field(default_factory=SessionDigest)

    def say(self, run_id: str, role: Role, text: str, time: float, *, of_question: bool = False) -> None:
        self.last_number += 1
        self.messages.append(SessionMessage(self.last_number, run_id, role, text, time, of_question))
        self.session = replace(
            self.session,
            message_count=self.session.message_count + 1,
            changed_time=max(self.session.changed_time, time),
        )


class InMemorySessions:
    """A SessionStore for tests."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Kept] = {}
        self._open: dict[str, _Kept] = {}

    async def create(self, session: Session, request_id: str) -> Session:
        await checkpoint_if_cancelled()
        for kept in self._sessions.values():
            if request_id and (kept.session.uid, kept.request_id) == (session.uid, request_id):
                return kept.session
        self._sessions[session.session_id] = _Kept(replace(session, labels=dict(session.labels)), request_id)
        await cancel_shielded_checkpoint()
        return session

    async def get(self, session_id: str) -> Session | None:
        await checkpoint()
        kept = self._sessions.get(session_id)
        return None if kept is None else kept.session

    async def list_sessions(
        self, before: str = "", limit: int = 50, uid: int | None = None
    ) -> Sequence[Session]:
        await checkpoint()
        found = sorted(
            (kept.session for kept in self._sessions.values() if uid in (None, kept.session.uid)),
            key=lambda session: session.place,
            reverse=True,
        )
        return [session for session in found if not before or session.place < before][: page_limit(limit)]

    async def delete(self, session_id: str) -> None:
        await checkpoint()
        kept = self._kept(session_id)
        if kept in self._open.values():
            raise session_busy(session_id)
        del self._sessions[session_id]

    async def begin_run(self, session_id: str, run_id: str, text: str, time: float, uid: int) -> None:
        await checkpoint_if_cancelled()
        if any(message.run_id == run_id for kept in self._sessions.values() for message in kept.messages):
            return
        kept = self._kept(session_id)
        if kept.session.uid != uid:
            raise session_not_found(session_id)
        kept.say(run_id, Role.USER, text, time)
        kept.session = replace(
            kept.session,
            run_count=kept.session.run_count + 1,
            title=kept.session.title or title_of(text),
        )
        self._open[run_id] = kept
        await cancel_shielded_checkpoint()

    async def end_run(
        self, run_id: str, answer: str | None, time: float, asked: Sequence[AnsweredQuestion] = ()
    ) -> None:
        await checkpoint_if_cancelled()
        kept = self._open.pop(run_id, None)
        if kept is not None:
            for one in asked:
                kept.say(run_id, Role.AGENT, one.question, one.asked_time, of_question=True)
                kept.say(run_id, Role.USER, one.answer, one.answered_time, of_question=True)
            if answer is not None:
                kept.say(run_id, Role.AGENT, answer, time)
        await cancel_shielded_checkpoint()

    async def forget_run(self, run_id: str) -> None:
        await checkpoint_if_cancelled()
        kept = self._open.pop(run_id, None)
        if kept is not None:
            kept.messages = [message for message in kept.messages if message.run_id != run_id]
            kept.session = replace(
                kept.session,
                run_count=kept.session.run_count - 1,
                message_count=kept.session.message_count - 1,
            )
        await cancel_shielded_checkpoint()

    async def open_runs(self, session_id: str = "") -> Sequence[str]:
        await checkpoint()
        return [
            run_id
            for run_id, kept in self._open.items()
            if not session_id or kept.session.session_id == session_id
        ]

    async def messages(self, session_id: str, after: int = 0, limit: int = 256) -> Sequence[SessionMessage]:
        await checkpoint()
        kept = self._sessions.get(session_id)
        later = [message for message in kept.messages if message.number > after] if kept else []
        page: list[SessionMessage] = []
        size = 0
        for message in later[: page_limit(limit)]:
            page.append(message)
            size += len(message.text)
            if size >= PAGE_BYTES:
                break
        return page

    async def digest(self, session_id: str) -> SessionDigest:
        await checkpoint()
        kept = self._sessions.get(session_id)
        return kept.digest if kept else SessionDigest()

    async def keep_digest(self, session_id: str, digest: SessionDigest) -> None:
        await checkpoint_if_cancelled()
        kept = self._sessions.get(session_id)
        if kept is not None and kept.digest.through <= digest.through:
            kept.digest = digest
        await cancel_shielded_checkpoint()

    def _kept(self, session_id: str) -> _Kept:
        kept = self._sessions.get(session_id)
        if kept is None:
            raise session_not_found(session_id)
        return kept
