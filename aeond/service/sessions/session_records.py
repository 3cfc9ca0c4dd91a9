"""Keeps session messages consistent with the journal.

The request of a run is recorded before the run is journaled. After its end is journaled, the questions that the
user answered in it and its answer are recorded. In between the run is open. Reading a session first settles open
runs: a run that ended gets its questions and its answer recorded, and a run unknown to the journal is removed. Thus each message exists exactly once, whenever a daemon dies, and the
journal remains the only source of truth.

A fork adds nothing to the session: it reads the history of the original run and is not recorded.
"""

import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import anyio

from aeond.domain.messages import Role
from aeond.domain.policy import joined
from aeond.domain.runs.events import ChildRunEnded, Event, InputAnswered, InputRequested, RunCreated
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Owner
from aeond.domain.sessions import AnsweredQuestion, SessionDigest, SessionMessage, SessionPast
from aeond.domain.values import display_json
from aeond.errors import AeondError, NotFoundError, ReplayError, StoreError
from aeond.ports import Journal
from aeond.ports.sessions import SessionStore
from aeond.service.folding import RunFolding

MAX_READ_MESSAGES: Final = 2_000
MAX_READ_ANSWER_CHARS: Final = 8_000
MAX_TAINTS: Final = 4_096

log = logging.getLogger("aeond.sessions")


async def answered_questions(journal: Journal, run_id: str) -> tuple[AnsweredQuestion, ...]:
    """Those of the run and of the child runs that it waited for, in the order of the journal, without questions that
    only their default answered. Raises what the journal raises.
    """
    found: list[AnsweredQuestion] = []
    open_questions: dict[str, Question] = {}
    seq = 0
    while page := await journal.read(run_id, seq):
        for event in page:
            kind = event.kind
            if isinstance(kind, InputRequested):
                open_questions[kind.question.question_id] = kind.question
            elif isinstance(kind, InputAnswered) and kind.owner != Owner():
                asked = open_questions[kind.question_id]
                text = _question_text(asked.request)
                found.append(AnsweredQuestion(text, asked.asked_time, display_json(kind.answer), event.time))
            elif isinstance(kind, ChildRunEnded):
                found += await answered_questions(journal, kind.child_run_id)
        seq = page[-1].seq
    return tuple(found)


def _question_text(request: InputRequest) -> str:
    return f"{request.prompt} ({', '.join(request.options)})" if request.options else request.prompt


# A digest is due long before this; the limit bounds one read in any case.
class SessionRecords:
    """Implements SessionHistory with a SessionStore and the Journal."""

    def __init__(self, *, store: SessionStore, journal: Journal, folding: RunFolding) -> None:
        self._store = store
        self._journal = journal
        self._folding = folding
        # Runs being added to the journal: they may still be missing there.
        self._unsure: set[str] = set()
        self._taint: dict[str, tuple[str, ...]] = {}  # of ended runs, the oldest first

    @asynccontextmanager
    async def beginning(self, created: Event) -> AsyncIterator[None]:
        """Wraps the creation of a run; does nothing for a run without a session.

        NotFoundError (reason SESSION_NOT_FOUND, field `session_id`) if its session does not exist or belongs to another user.
        """
        kind, run_id = created.kind, created.run_id
        if not isinstance(kind, RunCreated) or not kind.request.session_id:
            yield
            return
        await self.settle(kind.request.session_id)  # answers given by now precede this request
        begun = False
        self._unsure.add(run_id)
        try:
            await self._store.begin_run(
                kind.request.session_id, run_id, kind.request.text, created.time, kind.request.owner.uid
            )
            begun = True
        finally:
            if not begun:
                self._unsure.discard(run_id)
        # If the caller is cancelled, the run may or may not be created: it stays open.
        try:
            yield
        except StoreError:
            self._unsure.discard(run_id)  # the next reader consults the journal
            raise
        except AeondError:
            self._unsure.discard(run_id)
            await self._store.forget_run(run_id)
            raise
        self._unsure.discard(run_id)

    async def settle(self, session_id: str = "") -> None:
        """Reconciles the open runs of a session ("": of all) with the journal."""
        for run_id in await self._store.open_runs(session_id):
            summary = await self._journal.summary(run_id)
            if summary is None:
                if run_id not in self._unsure:
                    await self._store.forget_run(run_id)
                continue
            self._unsure.discard(run_id)
            if summary.state.ended:
                answer, asked = await self._answer(run_id)
                with anyio.CancelScope(shield=True):
                    await self._store.end_run(run_id, answer, summary.changed_time, asked)

    async def read(self, session_id: str, run_id: str) -> SessionPast:
        """See ports.SessionHistory. At most the newest 2,000 messages; requests in full, answers up to 8,000
        characters.
        """
        await self.settle(session_id)
        digest = await self._store.digest(session_id)
        asker = await self._asker(run_id)
        past, came = await self._before(session_id, asker, digest)
        if asker != run_id and not came:  # the digest covers that request too, and later ones
            past, _ = await self._before(session_id, asker, SessionDigest())
        return past

    async def keep_digest(self, session_id: str, digest: SessionDigest) -> None:
        await self._store.keep_digest(session_id, digest)

    async def _before(self, session_id: str, run_id: str, digest: SessionDigest) -> tuple[SessionPast, bool]:
        """The messages between the digest and the request of this run; and whether that request was found."""
        said: deque[SessionMessage] = deque(maxlen=MAX_READ_MESSAGES)
        asked: set[str] = set()
        came, last = False, digest.through
        while page := await self._store.messages(session_id, after=last):
            for message in page:
                if message.role is Role.USER and not message.of_question:
                    came = came or message.run_id == run_id
                    asked.update(() if came else (message.run_id,))
                if message.run_id in asked:
                    said.append(_bounded(message))
            last = page[-1].number
        still_open = await self._store.open_runs(session_id)
        taint = digest.taint
        for asked_run in asked:
            taint = joined(taint, await self._taint_of(asked_run))
        return SessionPast(digest, tuple(said), frozenset(asked).intersection(still_open), taint), came

    async def _taint_of(self, run_id: str) -> tuple[str, ...]:
        """The untrusted sources that a run has read; a run that cannot be read may have read any."""
        if run_id not in self._taint:
            try:
                run = await self._folding.snapshot(run_id)
            except ReplayError:
                return (f"run:{run_id}",)
            except NotFoundError:
                return ()  # removed after runs.keep_days; the runs that followed it have its taint
            if not run.state.ended:
                return run.taint
            self._taint[run_id] = run.taint
            while len(self._taint) > MAX_TAINTS:
                del self._taint[next(iter(self._taint))]
        return self._taint[run_id]

    async def _asker(self, run_id: str) -> str:
        """The run whose request is in the session; for a fork, the original run."""
        while first := await self._journal.read(run_id, 0, 1):
            created = first[0].kind
            if not isinstance(created, RunCreated) or not created.ancestry.forked_run_id:
                break
            run_id = created.ancestry.forked_run_id
        return run_id

    async def _answer(self, run_id: str) -> tuple[str | None, tuple[AnsweredQuestion, ...]]:
        """The answer of a run that has ended, None for a cancelled one; and the questions answered in it."""
        try:
            answer = (await self._folding.snapshot(run_id)).answer
            asked = await answered_questions(self._journal, run_id)
        except ReplayError as error:
            log.warning("the answer of a run cannot be read: %s", error, extra={"run_id": run_id})
            return None, ()
        return None if answer is None else answer.text, asked


def _bounded(message: SessionMessage) -> SessionMessage:
    if (message.role is Role.USER and not message.of_question) or len(message.text) <= MAX_READ_ANSWER_CHARS:
        return message
    return replace(message, text=f"{message.text[:MAX_READ_ANSWER_CHARS]} [...]")
