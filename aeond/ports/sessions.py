"""Seams of sessions: where they are kept, and what the orchestration sees of them."""

from collections.abc import Sequence
from typing import Protocol

from aeond.domain.sessions import Session, SessionContext, SessionDigest, SessionMessage, SessionPast


class SessionStore(Protocol):
    """Keeps sessions with their messages. Each operation is all or nothing, and durable when it returns.

    A run of a session is begun before it is journaled and ended after its end is journaled; in between it
    is open. Beginning and ending repeat without harm, so that after a crash the open runs can be compared
    with the journal. Raises StoreError.
    """

    async def create(self, session: Session, request_id: str) -> Session:
        """The new session; or the one that its user created under this request id before ("": none)."""

    async def get(self, session_id: str) -> Session | None: ...

    async def list_sessions(self, before: str = "", limit: int = 50) -> Sequence[Session]:
        """The one changed last first; `before` is the `place` of the session that the page comes after."""

    async def delete(self, session_id: str) -> None:
        """Removes the session with its messages. NotFoundError (reason SESSION_NOT_FOUND) when there is
        none, WrongStateError (reason SESSION_BUSY) while it has an open run."""

    async def begin_run(self, session_id: str, run_id: str, text: str, time: float) -> None:
        """Records the request of a run and leaves the run open. A session without a title gets the first
        line of the text. NotFoundError (reason SESSION_NOT_FOUND)."""

    async def end_run(self, run_id: str, answer: str | None, time: float) -> None:
        """Records the answer, if there is one, and closes the run; does nothing for a run that is not open."""

    async def forget_run(self, run_id: str) -> None:
        """Takes back the beginning of a run that never was; does nothing for a run that is not open."""

    async def open_runs(self, session_id: str = "") -> Sequence[str]:
        """The open runs of a session ("": of all), in the order in which they were begun."""

    async def messages(self, session_id: str, after: int = 0, limit: int = 256) -> Sequence[SessionMessage]:
        """Messages numbered above `after` in order, at most `limit` and about 256 KiB (but at least one)."""

    async def digest(self, session_id: str) -> SessionDigest:
        """What stands for the oldest messages; the empty one when nothing does yet."""

    async def keep_digest(self, session_id: str, digest: SessionDigest) -> None:
        """Replaces the digest unless the one that is there reaches further; nothing without the session."""


class SessionHistory(Protocol):
    """A session as the orchestration reads it: always in step with the journal. Raises StoreError."""

    async def read(self, session_id: str, run_id: str) -> SessionPast:
        """What came before the request of this run ("": everything), with the answers there are by now; of a
        fork that is the request of the run that it was forked from. Empty for a session that is gone."""

    async def keep_digest(self, session_id: str, digest: SessionDigest) -> None:
        """See SessionStore."""


class SessionContexts(Protocol):
    """What a model is told of a session."""

    async def preview(self, session_id: str) -> SessionContext:
        """What a run that began now would be told; changes nothing. Waits for an engine that is starting,
        for it counts with the model's tokenizer. LLMError, OverloadedError, UnavailableError."""
