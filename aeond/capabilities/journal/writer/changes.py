"""Changes executed by the writer. Several changes share a transaction. Each is validated before it writes, so
that a rejected change leaves no trace and the others proceed.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import apsw

from aeond.capabilities.journal.encoding import StoredEvent
from aeond.capabilities.journal.projection import RunLine, RunPart, request_id_taken
from aeond.capabilities.journal.readers import read_open_questions
from aeond.capabilities.journal.schema import EVENT_BYTES, RUN_BYTES
from aeond.domain.runs.events import RunEnded, RunParked, RunSuspended
from aeond.domain.runs.run import RunState

# Event kinds written even if the disk is full: the last event of a run, for which space is reserved.
LAST_WORDS_BYTES = 8_192

FIND_REQUEST = "SELECT run_id FROM runs WHERE uid = ? AND request_id = ? AND request_id <> ''"


class Change(ABC):
    """One atomic change. Unless it says otherwise, it is always possible, and may be written again if its commit failed."""

    size: int
    """The approximate number of bytes that it writes."""
    stored: Sequence[tuple[int, int]] = ()
    """By how many bytes the last `write` changed what a user stores: pairs of uid and bytes."""

    @property
    def may_use_reserve(self) -> bool:
        """Whether it is written even if the disk is full."""
        return False

    def check(self, cursor: apsw.Cursor) -> None:  # noqa: B027 - most changes are always possible
        """Raises an AeondError if it cannot be written; writes nothing."""

    @abstractmethod
    def write(self, cursor: apsw.Cursor) -> int:
        """Writes, and returns the number of events or runs, or 0 if the number is not used."""

    def is_written(self, cursor: apsw.Cursor) -> bool:
        """Whether an earlier `write`, whose commit failed, took effect after all."""
        return False


@dataclass(slots=True)
class Append(Change):
    """Events that become durable together, encoded in advance."""

    parts: tuple[RunPart, ...]
    rows: Sequence[StoredEvent]
    size: int
    # the end of each run, before and after the append
    _after: list[tuple[RunState, RunState]] = field(default_factory=list)
    stored: list[tuple[int, int]] = field(default_factory=list)

    @property
    def may_use_reserve(self) -> bool:
        last = (RunSuspended, RunParked, RunEnded)
        return all(isinstance(part.kinds[-1], last) for part in self.parts) and self.size <= LAST_WORDS_BYTES

    def check(self, cursor: apsw.Cursor) -> None:
        self._after.clear()
        self.stored.clear()
        for part in self.parts:
            found = cursor.execute(
                "SELECT last_seq, state, uid FROM runs WHERE run_id = ?", (part.run_id,)
            ).get
            last_seq, state, uid = found or (0, RunState.PENDING, part.uid)
            part.check_follows(last_seq)
            before = RunState(state)
            self._after.append(
                (before, part.state_after(before, read_open_questions(cursor, part.run_id, before)))
            )
            self.stored.append((uid, self._bytes_of(part)))
            if part.created is not None and part.created.request.request_id:
                self._check_request(cursor, part.begin(part.created))

    def write(self, cursor: apsw.Cursor) -> int:
        for part, (state, after), (_, size) in zip(self.parts, self._after, self.stored, strict=True):
            created = part.created
            if created is not None:
                cursor.execute(
                    "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*part.begin(created)[:-1], size),
                )
            elif after is state:
                cursor.execute(
                    "UPDATE runs SET last_seq = ?, changed_time = ?, bytes = bytes + ? WHERE run_id = ?",
                    (part.last_seq, part.last_time, size, part.run_id),
                )
            else:
                cursor.execute(
                    "UPDATE runs SET last_seq = ?, changed_time = ?, bytes = bytes + ?, state = ? WHERE run_id = ?",
                    (part.last_seq, part.last_time, size, str(after), part.run_id),
                )
        cursor.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", self.rows)
        return len(self.rows)

    def is_written(self, cursor: apsw.Cursor) -> bool:
        last = self.rows[-1]
        found = cursor.execute(
            "SELECT body FROM events WHERE run_id = ? AND seq = ?", (last.run_id, last.seq)
        ).get
        return bool(found == last.body)

    def _bytes_of(self, part: RunPart) -> int:
        bodies = (row.body for row in self.rows if row.run_id == part.run_id)
        events = sum(EVENT_BYTES + len(body.encode()) for body in bodies)
        return events if part.created is None else RUN_BYTES + events

    def _check_request(self, cursor: apsw.Cursor, line: RunLine) -> None:
        taken = cursor.execute(FIND_REQUEST, (line.uid, line.request_id)).get
        if taken is not None:
            raise request_id_taken(line.request_id, taken)


@dataclass
class Probe(Change):
    """An empty durable commit."""

    size: int = 0

    def write(self, cursor: apsw.Cursor) -> int:
        cursor.execute("UPDATE probes SET count = count + 1")
        return 0


@dataclass
class Room(Change):
    """Extends the log in advance: overwriting existing blocks takes half the time of allocating new ones, in
    every commit.
    """

    size: int

    def write(self, cursor: apsw.Cursor) -> int:
        cursor.execute("UPDATE room SET content = zeroblob(?)", (self.size,))
        return 0


@dataclass
class Prune(Change):
    """Deletes ended runs with all their events."""

    run_ids: tuple[str, ...]
    size: int = 0
    stored: list[tuple[int, int]] = field(default_factory=list)

    def write(self, cursor: apsw.Cursor) -> int:
        self.stored.clear()
        for run_id in self.run_ids:
            rows = cursor.execute("DELETE FROM runs WHERE run_id = ? RETURNING uid, bytes", (run_id,))
            self.stored += [(uid, -size) for uid, size in rows]
            cursor.execute("DELETE FROM events WHERE run_id = ?", (run_id,))
        return len(self.stored)
