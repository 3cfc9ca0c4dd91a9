"""Session interfaces: storage, and the view for orchestration."""

from collections.abc import Sequence
from typing import Protocol

from aeond.domain.sessions import (
    AnsweredQuestion,
    Session,
    SessionContext,
    SessionDigest,
    SessionMessage,
    SessionPast,
)


class SessionStore(Protocol):
    """Stores sessions with their messages. Each operation is atomic, and durable when it returns.

    A run of a session begins before it is journaled and ends after its end is journaled; in between it is
    open. Beginning and ending are idempotent, so that after a crash the open runs can be compared with the
    journal. Raises StoreError.
    """

    async def create(self, session: Session, request_id: str) -> Session:
        """The new session, or the one that the user created earlier with this request id ("": none)."""

    async def get(self, session_id: str) -> Session | None: ...

    async def list_sessions(
        self, before: str = "", limit: int = 50, uid: int | None = None
    ) -> Sequence[Session]:
        """Those of a user (None: of all), most recently changed first; `before` is the `place` of the session that
        precedes the page.
        """

    async def delete(self, session_id: str) -> None:
        """Deletes the session with its messages. NotFoundError (reason SESSION_NOT_FOUND) if it does not
        exist, WrongStateError (reason SESSION_BUSY) while it has an open run.
        """

    async def begin_run(self, session_id: str, run_id: str, text: str, time: float, uid: int) -> None:
        """Records the request of this user's run and leaves the run open. The first line of the text becomes the
        title of a session without one. NotFoundError (reason SESSION_NOT_FOUND), also for another user's session.
        """

    async def end_run(
        self, run_id: str, answer: str | None, time: float, asked: Sequence[AnsweredQuestion] = ()
    ) -> None:
        """Records the questions that the user answered, each as two messages, then the answer, if any, and closes
        the run; does nothing for a run that is not open.
        """

    async def forget_run(self, run_id: str) -> None:
        """Removes the beginning of a run that was never created; does nothing for a run that is not open."""

    async def open_runs(self, session_id: str = "") -> Sequence[str]:
        """The open runs of a session ("": of all sessions), in the order in which they began."""

    async def messages(self, session_id: str, after: int = 0, limit: int = 256) -> Sequence[SessionMessage]:
        """Messages numbered above `after` in order, at most `limit` and about 256 KiB (but at least one)."""

    async def digest(self, session_id: str) -> SessionDigest:
        """The summary of the oldest messages; empty if there is none yet."""

    async def keep_digest(self, session_id: str, digest: SessionDigest) -> None:
        """Replaces the digest unless the stored one covers more; does nothing if the session does not
        exist.
        """


class SessionHistory(Protocol):
    """A session as orchestration reads it: always consistent with the journal. Raises StoreError."""

    async def read(self, session_id: str, run_id: str) -> SessionPast:
        """The history before the request of this run ("": everything), with the answers available now. For a
        fork, the history before the request of the original run. Empty if the session was deleted.
        """

    async def keep_digest(self, session_id: str, digest: SessionDigest) -> None:
        """See SessionStore."""


class SessionContexts(Protocol):
    """The session part of prompts."""

    async def preview(self, session_id: str) -> SessionContext:
        """The context that a run starting now would get; changes nothing. Waits for an engine that is
        starting, because the model's tokenizer counts the tokens. LLMError, OverloadedError,
        UnavailableError.
        """
