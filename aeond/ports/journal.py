"""The journal interface."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from aeond.domain.runs.events import Event
from aeond.domain.runs.run import RunState
from aeond.frozen import frozen


@frozen
class RunSummary:
    """One entry of a list of runs."""

    run_id: str
    state: RunState
    text: str  # the first 200 characters of the request
    created_time: float
    changed_time: float
    last_seq: int
    uid: int
    parent_run_id: str = ""  # the run that started it; "" if a client did


@frozen
class RunFilter:
    """The runs of a list: in one of these states, of this session, below this parent and of this user, each if given.
    `before` is the run id that precedes the page, `limit` its size.
    """

    states: frozenset[RunState] = frozenset()
    session_id: str = ""
    parent_run_id: str = ""
    uid: int | None = None
    before: str = ""
    limit: int = 50


ANY_RUN: Final = RunFilter()


class Appends(Protocol):
    """The part of the journal that a run needs."""

    async def append(self, events: Sequence[Event]) -> None:
        """See Journal."""


class Journal(Appends, Protocol):
    """Append-only store of events; the single source of truth.

    Guarantees: `append` returns after the events are durable, all or none of them; the events of a run are
    numbered from 1 without gaps; readers never see an event that could still be lost.
    """

    async def append(self, events: Sequence[Event]) -> None:
        """Makes the events durable in one transaction; they may belong to several runs.

        Raises AlreadyExistsError (reason SEQ_TAKEN) if a run already has that seq, and StoreError with reason
        DISK_FULL or JOURNAL_FAILED; after JOURNAL_FAILED no further events are accepted.
        """

    async def find_request(self, uid: int, request_id: str) -> str | None:
        """The run that this user created with this request id, if any. `append` of a RunCreated with a
        request id that is taken raises AlreadyExistsError (reason REQUEST_ID_TAKEN).
        """

    async def read(self, run_id: str, after_seq: int = 0, limit: int = 256) -> Sequence[Event]:
        """Events after `after_seq` in order, at most `limit` and about 256 KiB (but at least one)."""

    async def summary(self, run_id: str) -> RunSummary | None: ...

    async def list_runs(self, wanted: RunFilter = ANY_RUN) -> Sequence[RunSummary]:
        """Newest first."""

    async def count_runs(self) -> Mapping[RunState, int]:
        """The number of runs in each state; states without runs are missing."""

    async def probe(self) -> None:
        """One empty durable commit through the writer; raises StoreError when it is stuck or broken."""


async def every_run(journal: Journal, wanted: RunFilter) -> AsyncIterator[RunSummary]:
    """All runs after `before` that pass the filter, newest first, read page by page."""
    while page := await journal.list_runs(wanted):
        for run in page:
            yield run
        wanted = replace(wanted, before=page[-1].run_id)


class RunRemoval(Protocol):
    """The part of a journal that removes runs."""

    async def remove(self, run_ids: Sequence[str]) -> int:
        """Removes these runs with all their events, in this order and in any state; returns how many existed. Those
        already removed stay so if it fails. Raises StoreError and OverloadedError.
        """
