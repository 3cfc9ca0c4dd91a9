"""The journal on disk."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import apsw
from anyio.lowlevel import checkpoint_if_cancelled

from aeond.capabilities.journal.encoding import StoredEvent, decode, encode
from aeond.capabilities.journal.projection import MAX_PAGE_EVENTS, MAX_PAGE_RUNS, RunLine, parts_of
from aeond.capabilities.journal.readers import (
    count_runs,
    read_ended_runs,
    read_page,
    read_run,
    read_runs,
)
from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.journal.writer.changes import FIND_REQUEST, Append, Probe, Prune
from aeond.capabilities.journal.writer.committer import Committer
from aeond.capabilities.journal.writer.reserve import Reserve
from aeond.capabilities.journal.writer.writer import Writer
from aeond.capabilities.sqlite_readers import Readers
from aeond.domain.runs.events import Event
from aeond.domain.runs.run import RunState
from aeond.ports import RunSummary
from aeond.ports.journal import ANY_RUN, RunFilter

RESERVE_BYTES = 4 << 20
_PRUNED_AT_ONCE = 32

T = TypeVar("T")


class SqliteJournal:
    """A Journal in one SQLite file at `path`, created if needed; its folder must exist.

    Beside the file are its log (`-wal`, `-shm`) and `reserve_bytes` reserved for a full disk (`-reserve`).
    Enter the journal before use: that rejects an unusable file (StoreError: JOURNAL_NEWER, _FOREIGN,
    _CORRUPT, _READ_ONLY, _CANNOT_OPEN, _UNSAFE) and leaves it unchanged. Only one process at a time may hold
    it. `vfs` names a registered SQLite VFS; `deadline_seconds` limits every wait for the disk but
    that for opening.
    """

    def __init__(
        self,
        path: Path,
        *,
        reserve_bytes: int = RESERVE_BYTES,
        deadline_seconds: float = 30.0,
        vfs: str | None = None,
    ) -> None:
        reserve = Reserve(path.with_name(path.name + "-reserve"), reserve_bytes)
        self._committer = Committer(path, reserve, vfs)
        self._writer = Writer(self._committer, deadline_seconds)
        self._readers = Readers(path, JOURNAL, vfs, deadline_seconds)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._writer)
        self._readers.open()
        # It is closed first: the last connection to close checkpoints the log.
        self._stack.push_async_callback(self._readers.close)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def stored_bytes(self, uid: int) -> int:
        """What the runs of this user take, about; known without reading anything."""
        return self._committer.stored_bytes(uid)

    async def append(self, events: Sequence[Event]) -> None:
        """See ports.Journal. All errors in the events are reported before anything is written:
        InvalidInputError with reason EVENT_NOT_JSON, EVENT_TOO_LARGE, RUN_ID_INVALID, SEQ_GAP,
        RUN_NOT_CREATED, NO_EVENTS. A caller cancelled before the call writes nothing; one cancelled during it
        waits until the events are durable or rejected. OverloadedError if too many changes are queued and the events begin a run: a
        run that works, of which there are few, would lose what it has done.
        """
        await checkpoint_if_cancelled()
        parts, rows = parts_of(events), [encode(event) for event in events]
        change = Append(parts, rows, sum(len(row.body) for row in rows))
        await self._writer.perform(change, refusable=any(event.seq == 1 for event in events))

    async def probe(self) -> None:
        """See ports.Journal. DISK_FULL means that the writer works but has no space."""
        await self._writer.perform(Probe(), in_doubt=True)

    async def find_request(self, uid: int, request_id: str) -> str | None:
        return await self._query(lambda cursor: cursor.execute(FIND_REQUEST, (uid, request_id)).get)

    async def read(self, run_id: str, after_seq: int = 0, limit: int = MAX_PAGE_EVENTS) -> Sequence[Event]:
        """See ports.Journal. ReplayError (EVENT_NEWER, EVENT_UNKNOWN, EVENT_UNREADABLE) if this version
        cannot read the events; a run that does not exist has no events.
        """
        limit = max(1, min(limit, MAX_PAGE_EVENTS))
        rows = partial(read_page, run_id=run_id, after_seq=after_seq, limit=limit)
        self._writer.check()
        return await self._readers.run_then(rows, lambda page: [decode(stored) for stored in page])

    async def summary(self, run_id: str) -> RunSummary | None:
        lines = await self._query(partial(read_run, run_id=run_id))
        return lines[0].summary if lines else None

    async def list_runs(self, wanted: RunFilter = ANY_RUN) -> Sequence[RunSummary]:
        """See ports.Journal; at most 500 at once. Sorted by run id, which sorts by creation."""
        wanted = replace(wanted, limit=max(1, min(wanted.limit, MAX_PAGE_RUNS)))
        lines: list[RunLine] = await self._query(partial(read_runs, wanted=wanted))
        return [line.summary for line in lines]

    async def count_runs(self) -> Mapping[RunState, int]:
        return await self._query(count_runs)

    async def prune(self, before_time: float) -> int:
        """Deletes runs that ended before `before_time` (Unix seconds), with their events; returns their
        number.

        Deletes a few at a time, so that appends need not wait; cancellation leaves no partial runs.
        """
        removed = 0
        while run_ids := await self._query(
            lambda cursor: read_ended_runs(cursor, before_time, _PRUNED_AT_ONCE)
        ):
            removed += await self._writer.perform(Prune(run_ids), in_doubt=True)
        return removed

    async def read_stored(self, run_id: str, after_seq: int = 0) -> Sequence[StoredEvent]:
        """Like `read`, but returns the stored rows, whether this version can read them or not."""
        return await self._query(
            partial(read_page, run_id=run_id, after_seq=after_seq, limit=MAX_PAGE_EVENTS)
        )

    async def remove(self, run_ids: Sequence[str]) -> int:
        """See ports.RunRemoval. A few at a time, so that appends need not wait."""
        groups = (tuple(run_ids[at : at + _PRUNED_AT_ONCE]) for at in range(0, len(run_ids), _PRUNED_AT_ONCE))
        return sum([await self._writer.perform(Prune(group)) for group in groups])

    async def _query(self, query: Callable[[apsw.Cursor], T]) -> T:
        self._writer.check()  # after a failure it is unknown which part of the log is on disk
        return await self._readers.run(query)
