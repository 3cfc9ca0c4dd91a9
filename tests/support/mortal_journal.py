"""A journal whose process dies at a chosen point: from then on nothing is recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import anyio

from aeond.domain.runs.events import Event, EventKind
from aeond.domain.runs.run import RunState
from aeond.errors import StoreError
from aeond.ports import Journal, RunSummary
from aeond.ports.journal import ANY_RUN, RunFilter


@dataclass(frozen=True)
class Moment:
    """The point before or after an append with an event of this kind; an event after it is on disk but not
    acknowledged."""

    when: Literal["before", "after"]
    kind: type[EventKind]

    def __str__(self) -> str:
        return f"{self.when} {self.kind.__name__}"


class MortalJournal:
    """Passes everything on to another journal until the chosen point, or until it is killed."""

    def __init__(self, journal: Journal, moment: Moment | None = None) -> None:
        self._journal = journal
        self._moment = moment
        self.died = anyio.Event()

    def die(self) -> None:
        self.died.set()

    async def append(self, events: Sequence[Event]) -> None:
        self._check()
        moment = self._moment
        comes = moment is not None and any(isinstance(event.kind, moment.kind) for event in events)
        if moment is None or not comes or moment.when == "after":
            await self._journal.append(events)
        if comes:
            self.die()
            self._check()

    async def find_request(self, uid: int, request_id: str) -> str | None:
        self._check()
        return await self._journal.find_request(uid, request_id)

    async def read(self, run_id: str, after_seq: int = 0, limit: int = 256) -> Sequence[Event]:
        self._check()
        return await self._journal.read(run_id, after_seq, limit)

    async def summary(self, run_id: str) -> RunSummary | None:
        self._check()
        return await self._journal.summary(run_id)

    async def list_runs(self, wanted: RunFilter = ANY_RUN) -> Sequence[RunSummary]:
        self._check()
        return await self._journal.list_runs(wanted)

    async def count_runs(self) -> Mapping[RunState, int]:
        self._check()
        return await self._journal.count_runs()

    async def probe(self) -> None:
        self._check()
        await self._journal.probe()

    def _check(self) -> None:
        if self.died.is_set():
            raise StoreError("the process has died", reason="JOURNAL_FAILED")
