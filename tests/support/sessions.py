"""Sessions in memory, for tests of whatever stands before or behind them."""

from dataclasses import dataclass, field

from aeond.domain.messages import Role
from aeond.domain.sessions import SessionContext, SessionDigest, SessionMessage, SessionPast
from aeond.ports import Clock, Ids
from aeond.service.folding import RunFolding
from aeond.service.runs.admission import Admission
from aeond.service.sessions.session_records import SessionRecords
from aeond.service.sessions.sessions import Sessions
from aeond.service.storage import StorageLimit
from aeond.state_machine.fold import fold
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.in_memory_sessions import InMemorySessions


@dataclass
class ScriptedContexts:
    """Returns a predefined context for every session."""

    context: SessionContext = field(default_factory=lambda: SessionContext("User: hello", 5, 100, (), 0, 1))

    async def preview(self, session_id: str) -> SessionContext:
        return self.context


@dataclass
class ScriptedHistory:
    """The past of a session as a test says; keeps the digests that it is given."""

    past: SessionPast = field(default_factory=SessionPast)
    digests: list[SessionDigest] = field(default_factory=list)

    async def read(self, session_id: str, run_id: str) -> SessionPast:
        return self.past

    async def keep_digest(self, session_id: str, digest: SessionDigest) -> None:
        """Subsequent reads start after the digest, as in a real store."""
        self.digests.append(digest)
        later = tuple(m for m in self.past.messages if m.number > digest.through)
        asked = {m.run_id for m in later if m.role is Role.USER}
        self.past = SessionPast(digest, tuple(m for m in later if m.run_id in asked), self.past.open_runs)


def talk(*said: str) -> tuple[SessionMessage, ...]:
    """Messages in turns, the user first."""
    return tuple(
        SessionMessage(number, f"r{(number + 1) // 2}", Role.USER if number % 2 else Role.AGENT, text, 1.0)
        for number, text in enumerate(said, 1)
    )


def sessions_in_memory(
    clock: Clock, ids: Ids, store: InMemorySessions, contexts: ScriptedContexts, admission: Admission
) -> Sessions:
    """The service over stores in memory, where no run ever is."""
    journal = InMemoryJournal()
    records = SessionRecords(store=store, journal=journal, folding=RunFolding(journal, fold))
    return Sessions(
        store=store,
        records=records,
        contexts=contexts,
        admission=admission,
        clock=clock,
        ids=ids,
        storage=StorageLimit({}, limit_bytes=0),
    )
