"""Group commit on one connection, with recovery from failed commits.

The result of a failed commit is *unknown*: the data may or may not be on disk. Nothing is acknowledged until
it is known. The connection is closed and reopened, and the change is looked up. If it is present, one more
durable commit ensures that it stays; otherwise it is written once more. A second failure ends the journal
permanently, and so does the first failed sync: after it the system may report data as written that never
reached the disk, so reading back would prove nothing.

A full disk is a known failure: it is reported as DISK_FULL, the reserve file is released, and only the last
events of runs are written until there is space for a new reserve.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import apsw

from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.journal.writer.changes import Change, Probe, Room
from aeond.capabilities.journal.writer.reserve import Reserve
from aeond.capabilities.sqlite_file import is_full, open_writer, prepare
from aeond.errors import AeondError, StoreError

logger = logging.getLogger(__name__)

# Log sizes for a checkpoint when idle, and for one without waiting.
SHORT_LOG_BYTES = 256 << 10
LONG_LOG_BYTES = 4 << 20

_FAILED_SYNCS = frozenset({apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC})

Answer = int | AeondError
"""The result of a change: how much was written, or why it was not."""


class Committer:
    """The journal's one writing connection; owned by one thread from `open` to `close`."""

    def __init__(self, path: Path, reserve: Reserve, vfs: str | None = None) -> None:
        self._path = path
        self._reserve = reserve
        self._vfs = vfs
        self._connection: apsw.Connection | None = None
        self._full = False
        self._frame_bytes = 4096
        self._log_bytes = 0
        self._long_log_bytes = LONG_LOG_BYTES
        self._stored: Counter[int] = Counter()  # bytes by uid

    def stored_bytes(self, uid: int) -> int:
        """What the runs of this user take in the journal. Any thread may ask."""
        return self._stored[uid]

    def open(self) -> None:
        """Opens the file, creating it if needed; StoreError if it cannot be used."""
        try:
            prepare(self._path, JOURNAL)
            self._connect()
        except StoreError as error:
            if error.reason != "DISK_FULL":
                raise
            self._reserve.free()
            prepare(self._path, JOURNAL)
            self._connect()
        self._full = not self._make_reserve()
        # The log may contain data that a killed process wrote but did not sync: sync it before it is read.
        self.commit([Probe()])

    def commit(self, changes: Sequence[Change]) -> list[Answer]:
        """Writes the changes in one durable transaction and returns one result each, in order.

        Raises StoreError (JOURNAL_FAILED) if it is permanently unknown whether they were written: the
        committer must not be used any more.
        """
        if self._full:
            self._full = not self._make_reserve()
        if not self._full:
            return self._write(changes)
        last_words = [change for change in changes if change.may_use_reserve]
        answers = iter(self._write(last_words) if last_words else [])
        return [next(answers) if change.may_use_reserve else self._disk_full() for change in changes]

    @property
    def has_long_log(self) -> bool:
        """Whether the log must be checkpointed now, even if changes are waiting."""
        return self._log_bytes >= self._long_log_bytes

    @property
    def has_log(self) -> bool:
        """Whether the log is worth checkpointing when the writer is idle."""
        return self._log_bytes >= SHORT_LOG_BYTES

    def lengthen_log(self) -> None:
        """Extends a new log to its full size, so that commits need not; if the disk has little space, the log
        grows as needed. StoreError as for `commit`.
        """
        log = self._path.with_name(self._path.name + "-wal")
        if log.stat().st_size < LONG_LOG_BYTES and self._reserve.room > 8 * LONG_LOG_BYTES:
            self.commit([Room(LONG_LOG_BYTES)])
            self.checkpoint()
            assert self._connection is not None
            self._connection.pragma("shrink_memory")

    def checkpoint(self) -> None:
        """Copies the log to the database as far as readers allow, without waiting for them.

        Raises StoreError (JOURNAL_FAILED) if the disk fails.
        """
        assert self._connection is not None
        done = False
        try:
            in_log, written_back = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            done = in_log == written_back
        except apsw.BusyError:
            logger.debug("another connection writes the journal's log back")
        except apsw.Error as error:
            if not is_full(error):
                raise self._lost(error) from error
            self._enter_full()
        # Pages that a reader still needed are checkpointed much later, not with every commit until then.
        self._long_log_bytes = LONG_LOG_BYTES if done else self._log_bytes + LONG_LOG_BYTES // 4
        self._log_bytes = 0 if done else self._log_bytes

    def close(self) -> None:
        """Checkpoints the log, if there are no readers, and closes the file."""
        if self._connection is None:
            return
        self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        try:
            self._connection.close()
        except apsw.Error as error:
            logger.warning("the journal's log is left to the next start to write back: %s", error)
        self._connection = None

    def _connect(self) -> None:
        connection = open_writer(self._path, JOURNAL, self._vfs)
        try:
            connection.wal_autocheckpoint(0)
            connection.set_wal_hook(self._count_log)
            self._frame_bytes = connection.pragma("page_size")
            # Also after a failed commit, when it is unknown what was counted of it.
            self._stored = Counter(dict(connection.execute("SELECT uid, sum(bytes) FROM runs GROUP BY uid")))
        except apsw.Error as error:
            connection.close()
            raise JOURNAL.failure(error, self._path) from error
        self._connection = connection

    def _reconnect(self) -> None:
        """Discards SQLite's state of the log and reads it again."""
        assert self._connection is not None
        self._connection.close(True)
        self._connection = None
        self._connect()

    def _count_log(self, connection: apsw.Connection, name: str, pages: int) -> int:
        self._log_bytes = pages * self._frame_bytes
        return apsw.SQLITE_OK

    # ------------------------------------------------------------ transactions

    def _write(self, changes: Sequence[Change]) -> list[Answer]:
        answers: list[Answer] = []
        try:
            self._transact(changes, answers)
        except apsw.BusyError as error:  # another program has locked the file; nothing was written
            return [JOURNAL.failure(error, self._path) for _ in changes]
        except apsw.Error as error:
            return self._find_out(changes, answers, error)
        return answers

    def _transact(self, changes: Sequence[Change], answers: list[Answer]) -> None:
        assert self._connection is not None
        answers.clear()
        cursor = self._connection.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        for change in changes:
            try:
                change.check(cursor)
            except AeondError as refusal:
                answers.append(refusal)
            else:
                answers.append(change.write(cursor))
        cursor.execute("COMMIT")
        for change, answer in zip(changes, answers, strict=True):
            if isinstance(answer, int):
                for uid, size in change.stored:
                    self._stored[uid] += size

    def _find_out(
        self, changes: Sequence[Change], answers: list[Answer], failure: apsw.Error
    ) -> list[Answer]:
        """Determines whether changes with a failed commit were written."""
        if getattr(failure, "extendedresult", 0) in _FAILED_SYNCS:
            raise self._lost(failure) from failure
        logger.warning("a commit to the journal failed, opening it again: %s", failure)
        if is_full(failure):
            self._enter_full()
        try:
            self._reconnect()
            if len(answers) == len(changes) and self._is_written(changes, answers):
                self._transact([Probe()], [])  # its sync covers everything in the log
                return answers
            if is_full(failure):
                return [self._disk_full() for _ in changes]
            self._transact(changes, answers)
        except (apsw.Error, StoreError) as error:
            raise self._lost(error) from failure
        return answers

    def _is_written(self, changes: Sequence[Change], answers: Sequence[Answer]) -> bool:
        assert self._connection is not None
        cursor = self._connection.cursor()
        accepted = (
            change for change, answer in zip(changes, answers, strict=True) if isinstance(answer, int)
        )
        return any(change.is_written(cursor) for change in accepted)

    # ------------------------------------------------------------ failures

    def _make_reserve(self) -> bool:
        try:
            return self._reserve.make()
        except OSError as error:
            raise self._lost(error) from error

    def _enter_full(self) -> None:
        logger.warning(
            "the disk of the journal %s is full: only the last events of runs are written", self._path
        )
        self._reserve.free()
        self._full = True

    def _disk_full(self) -> StoreError:
        return JOURNAL.failure(apsw.FullError(), self._path)

    def _lost(self, error: Exception) -> StoreError:
        return JOURNAL.refusal(
            "FAILED",
            f"the disk failed under the journal {self._path} ({error}): check the disk, then restart;"
            " acknowledged data is stored",
        )
