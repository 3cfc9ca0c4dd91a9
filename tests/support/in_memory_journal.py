"""A journal in memory."""

from collections import Counter
from collections.abc import Mapping, Sequence

from anyio.lowlevel import cancel_shielded_checkpoint, checkpoint, checkpoint_if_cancelled

from aeond.capabilities.journal.encoding import StoredEvent, decode, encode
from aeond.capabilities.journal.projection import (
    MAX_PAGE_EVENTS,
    MAX_PAGE_RUNS,
    PAGE_BYTES,
    RunLine,
    RunPart,
    parts_of,
    request_id_taken,
)
from aeond.domain.plans.open_questions import (
    MAY_BE_OPEN,
    NONE_OPEN,
    TELLING,
    OpenQuestions,
    open_after,
)
from aeond.domain.runs.events import ChildRunStarted, Event
from aeond.domain.runs.run import RunState
from aeond.ports import RunSummary
from aeond.ports.journal import ANY_RUN, RunFilter


class InMemoryJournal:
    """A Journal for tests and benchmarks.

    It stores events in encoded form, so that readers get the same results as from disk.
    """

    def __init__(self) -> None:
        self._events: dict[str, list[StoredEvent]] = {}
        self._runs: dict[str, RunLine] = {}
        self._requests: dict[tuple[int, str], str] = {}

    async def append(self, events: Sequence[Event]) -> None:
        await checkpoint_if_cancelled()
        parts, rows = parts_of(events), [encode(event) for event in events]
        for part in parts:
            self._check(part)
        for part in parts:
            self._note(part)
        for row in rows:
            self._events.setdefault(row.run_id, []).append(row)
        await cancel_shielded_checkpoint()

    async def remove(self, run_ids: Sequence[str]) -> int:
        """See ports.RunRemoval."""
        await checkpoint_if_cancelled()
        existing = [run_id for run_id in run_ids if self._runs.pop(run_id, None) is not None]
        for run_id in existing:
            del self._events[run_id]
        self._requests = {name: run_id for name, run_id in self._requests.items() if run_id in self._runs}
        await cancel_shielded_checkpoint()
        return len(existing)

    async def probe(self) -> None:
        await checkpoint()

    async def find_request(self, uid: int, request_id: str) -> str | None:
        await checkpoint()
        return self._requests.get((uid, request_id))

    async def read(self, run_id: str, after_seq: int = 0, limit: int = MAX_PAGE_EVENTS) -> Sequence[Event]:
        await checkpoint()
        page: list[Event] = []
        size = 0
        stored = self._events.get(run_id, [])
        for row in stored[max(0, after_seq) :][: max(1, min(limit, MAX_PAGE_EVENTS))]:
            page.append(decode(row))
            size += len(row.body)
            if size >= PAGE_BYTES:
                break
        return page

    async def summary(self, run_id: str) -> RunSummary | None:
        await checkpoint()
        line = self._runs.get(run_id)
        return line.summary if line else None

    async def list_runs(self, wanted: RunFilter = ANY_RUN) -> Sequence[RunSummary]:
        await checkpoint()
        parent = wanted.parent_run_id
        started = self._started_by(parent) if parent else frozenset()
        found = [
            line.summary
            for line in sorted(self._runs.values(), key=lambda line: line.run_id, reverse=True)
            if (not wanted.states or line.state in wanted.states)
            and (not wanted.session_id or line.session_id == wanted.session_id)
            and (not parent or line.run_id in started)
            and (wanted.uid is None or line.uid == wanted.uid)
            and (not wanted.before or line.run_id < wanted.before)
        ]
        return found[: max(1, min(wanted.limit, MAX_PAGE_RUNS))]

    async def count_runs(self) -> Mapping[RunState, int]:
        await checkpoint()
        return Counter(line.state for line in self._runs.values())

    async def prune(self, before_time: float) -> int:
        """Deletes runs that ended before `before_time` (Unix seconds), with their events; returns their
        number.
        """
        await checkpoint()
        old = [line for line in self._runs.values() if line.state.ended and line.changed_time < before_time]
        for line in old:
            del self._runs[line.run_id], self._events[line.run_id]
            self._requests.pop((line.uid, line.request_id), None)
        return len(old)

    def _started_by(self, run_id: str) -> frozenset[str]:
        kinds = (decode(row).kind for row in self._events.get(run_id, []) if row.kind == "child_run_started")
        return frozenset(kind.child.child_run_id for kind in kinds if isinstance(kind, ChildRunStarted))

    def _open_questions(self, line: RunLine) -> OpenQuestions:
        if line.state not in MAY_BE_OPEN:
            return NONE_OPEN
        counted = (row for row in self._events[line.run_id] if row.kind in TELLING)
        return open_after(NONE_OPEN, [decode(row).kind for row in counted])

    def _check(self, part: RunPart) -> None:
        before = self._runs.get(part.run_id)
        part.check_follows(before.last_seq if before else 0)
        if part.created is not None and part.created.request.request_id:
            line = part.begin(part.created)
            taken = self._requests.get((line.uid, line.request_id))
            if taken is not None:
                raise request_id_taken(line.request_id, taken)

    def _note(self, part: RunPart) -> None:
        if part.created is not None:
            line = part.begin(part.created)
            if line.request_id:
                self._requests[line.uid, line.request_id] = part.run_id
        else:
            before = self._runs[part.run_id]
            line = before._replace(
                state=part.state_after(before.state, self._open_questions(before)),
                changed_time=part.last_time,
                last_seq=part.last_seq,
            )
        self._runs[part.run_id] = line
