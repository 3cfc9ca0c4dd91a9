"""What the writer is asked to do. Several changes share a transaction: each is checked before it writes,
so that one that is refused leaves no trace and the others go on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import apsw

from aeond.capabilities.journal.encoding import StoredEvent
from aeond.capabilities.journal.projection import RunLine, RunPart, request_id_taken
from aeond.capabilities.journal.reading import read_open_questions
from aeond.domain.events import RunEnded, RunParked, RunSuspended
from aeond.domain.runs import RunState
from aeond.frozen import frozen

# What may still be written when the disk is full: the last word of a run, on room kept for it.
LAST_WORDS_BYTES = 8_192

FIND_REQUEST = "SELECT run_id FROM runs WHERE uid = ? AND request_id = ? AND request_id <> ''"


class Change(Protocol):
    """One thing to write, all or nothing."""

    @property
    def size(self) -> int:
        """About how many bytes it writes."""
        ...

    @property
    def may_use_reserve(self) -> bool:
        """Whether it is written even when the disk is full."""
        ...

    def check(self, cursor: apsw.Cursor) -> None:
        """Raises an AeondError if it cannot be written; writes nothing."""
        ...

    def write(self, cursor: apsw.Cursor) -> int:
        """Writes, and returns how much: events, runs, or 0 where nobody asks."""
        ...

    def is_written(self, cursor: apsw.Cursor) -> bool:
        """Whether an earlier `write`, whose commit failed, is there after all."""
        ...


@dataclass(slots=True)
class Append:
    """Events that become durable together, encoded before they are handed over."""

    parts: tuple[RunPart, ...]
    rows: Sequence[StoredEvent]
    size: int
    _after: list[tuple[RunState, RunState]] = field(default_factory=list)  # of each run, before and after

    @property
    def may_use_reserve(self) -> bool:
        last = (RunSuspended, RunParked, RunEnded)
        return all(isinstance(part.kinds[-1], last) for part in self.parts) and self.size <= LAST_WORDS_BYTES

    def check(self, cursor: apsw.Cursor) -> None:
        self._after.clear()
        for part in self.parts:
            found = cursor.execute("SELECT last_seq, state FROM runs WHERE run_id = ?", (part.run_id,)).get
            last_seq, state = found or (0, RunState.PENDING)
            part.check_follows(last_seq)
            before = RunState(state)
            self._after.append(
                (before, part.state_after(before, read_open_questions(cursor, part.run_id, before)))
            )
            if part.created is not None and part.created.request.request_id:
                self._check_request(cursor, part.begin(part.created))

    def write(self, cursor: apsw.Cursor) -> int:
        for part, (state, after) in zip(self.parts, self._after, strict=True):
            created = part.created
            if created is not None:
                cursor.execute(
                    "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", part.begin(created)[:-1]
                )
            elif after is state:
                cursor.execute(
                    "UPDATE runs SET last_seq = ?, changed_time = ? WHERE run_id = ?",
                    (part.last_seq, part.last_time, part.run_id),
                )
            else:
                cursor.execute(
                    "UPDATE runs SET last_seq = ?, changed_time = ?, state = ? WHERE run_id = ?",
                    (part.last_seq, part.last_time, str(after), part.run_id),
                )
        cursor.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", self.rows)
        return len(self.rows)

    def is_written(self, cursor: apsw.Cursor) -> bool:
        last = self.rows[-1]
        found = cursor.execute(
            "SELECT body FROM events WHERE run_id = ? AND seq = ?", (last.run_id, last.seq)
        ).get
        return bool(found == last.body)

    def _check_request(self, cursor: apsw.Cursor, line: RunLine) -> None:
        taken = cursor.execute(FIND_REQUEST, (line.uid, line.request_id)).get
        if taken is not None:
            raise request_id_taken(line.request_id, taken)


@frozen
class Probe:
    """Nothing but a durable commit."""

    size: int = 0
    may_use_reserve: bool = False

    def check(self, cursor: apsw.Cursor) -> None:
        pass

    def write(self, cursor: apsw.Cursor) -> int:
        cursor.execute("UPDATE probes SET count = count + 1")
        return 0

    def is_written(self, cursor: apsw.Cursor) -> bool:
        return False


@frozen
class Room:
    """As many bytes as the log will grow to: writing over blocks that the log has is half the price of
    asking the file system for new ones, in every commit."""

    size: int
    may_use_reserve: bool = False

    def check(self, cursor: apsw.Cursor) -> None:
        pass

    def write(self, cursor: apsw.Cursor) -> int:
        cursor.execute("UPDATE room SET content = zeroblob(?)", (self.size,))
        return 0

    def is_written(self, cursor: apsw.Cursor) -> bool:
        return False


@frozen
class Prune:
    """Removes runs that have ended, whole. Doing it twice changes nothing."""

    run_ids: tuple[str, ...]
    size: int = 0
    may_use_reserve: bool = False

    def check(self, cursor: apsw.Cursor) -> None:
        pass

    def write(self, cursor: apsw.Cursor) -> int:
        removed = 0
        for run_id in self.run_ids:
            cursor.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))
            removed += cursor.connection.changes()
            cursor.execute("DELETE FROM events WHERE run_id = ?", (run_id,))
        return removed

    def is_written(self, cursor: apsw.Cursor) -> bool:
        return False
