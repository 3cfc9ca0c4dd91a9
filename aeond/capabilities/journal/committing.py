"""Group commit on one connection, and what to do when a commit fails.

A commit that fails is *unknown*: the disk may have it or not. Nothing is acknowledged until it is known.
The connection is closed and opened again, and the change is looked for: if it is there, one more durable
commit makes sure that it stays; if not, it is written once more. A second failure ends the journal for
good, and so does the first failed sync: after it the system may show data as written that never reached
the disk, so reading back would prove nothing.

A full disk is known: it is answered with DISK_FULL, the reserve is freed, and only last words of runs are
written until there is room for a new reserve.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

import apsw

from aeond.capabilities.journal.changes import Change, Probe, Room
from aeond.capabilities.journal.reserve import Reserve
from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.sqlite_file import is_full, open_writer, prepare
from aeond.errors import AeondError, StoreError

logger = logging.getLogger(__name__)

# A log of the one size is written back in a quiet moment, of the other without waiting for one.
SHORT_LOG_BYTES = 256 << 10
LONG_LOG_BYTES = 4 << 20

_FAILED_SYNCS = frozenset({apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC})

Answer = int | AeondError
"""What became of a change: how much was written, or why it was not."""


class Committer:
    """The journal's one connection that writes; belongs to one thread from `open` to `close`."""

    def __init__(self, path: Path, reserve: Reserve, vfs: str | None = None) -> None:
        self._path = path
        self._reserve = reserve
        self._vfs = vfs
        self._connection: apsw.Connection | None = None
        self._full = False
        self._frame_bytes = 4096
        self._log_bytes = 0
        self._long_log_bytes = LONG_LOG_BYTES

    def open(self) -> None:
        """Opens the file, making it if need be; StoreError when it cannot be used."""
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
        # What a killed program wrote and did not sync is in the log: on disk before anybody reads it.
        self.commit([Probe()])

    def commit(self, changes: Sequence[Change]) -> list[Answer]:
        """Writes the changes in one durable transaction; one answer each, in order.

        Raises StoreError (JOURNAL_FAILED) when it is not known whether they were written, and never
        will be: nothing may be asked of it any more.
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
        """Whether the log should be written back now, whatever else there is to do."""
        return self._log_bytes >= self._long_log_bytes

    @property
    def has_log(self) -> bool:
        """Whether the log is worth writing back in a quiet moment."""
        return self._log_bytes >= SHORT_LOG_BYTES

    def lengthen_log(self) -> None:
        """Makes a new log as long as it will get, so that commits need not; on a disk with little room it
        grows as it must. StoreError as for `commit`."""
        log = self._path.with_name(self._path.name + "-wal")
        if log.stat().st_size < LONG_LOG_BYTES and self._reserve.room > 8 * LONG_LOG_BYTES:
            self.commit([Room(LONG_LOG_BYTES)])
            self.checkpoint()
            assert self._connection is not None
            self._connection.pragma("shrink_memory")

    def checkpoint(self) -> None:
        """Writes the log back to the file as far as readers allow; waits for nobody.

        Raises StoreError (JOURNAL_FAILED) when the disk fails.
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
        # What a reader still needed goes back a good while later, not with every commit until then.
        self._long_log_bytes = LONG_LOG_BYTES if done else self._log_bytes + LONG_LOG_BYTES // 4
        self._log_bytes = 0 if done else self._log_bytes

    def close(self) -> None:
        """Writes the log back, if nobody reads any more, and closes the file."""
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
        connection.wal_autocheckpoint(0)
        connection.set_wal_hook(self._count_log)
        self._frame_bytes = connection.pragma("page_size")
        self._connection = connection

    def _reconnect(self) -> None:
        """Forgets what SQLite thinks of the log and reads it again."""
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
        except apsw.BusyError as error:  # another program has the file; nothing was written
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

    def _find_out(
        self, changes: Sequence[Change], answers: list[Answer], failure: apsw.Error
    ) -> list[Answer]:
        """What became of changes whose commit failed."""
        if getattr(failure, "extendedresult", 0) in _FAILED_SYNCS:
            raise self._lost(failure) from failure
        logger.warning("a commit to the journal failed, opening it again: %s", failure)
        if is_full(failure):
            self._enter_full()
        try:
            self._reconnect()
            if len(answers) == len(changes) and self._is_written(changes, answers):
                self._transact([Probe()], [])  # its sync covers all that stands in the log
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
        logger.warning("the disk of the journal %s is full: only last words of runs are written", self._path)
        self._reserve.free()
        self._full = True

    def _disk_full(self) -> StoreError:
        return JOURNAL.failure(apsw.FullError(), self._path)

    def _lost(self, error: Exception) -> StoreError:
        return JOURNAL.refusal(
            "FAILED",
            f"the disk failed under the journal {self._path} ({error}): check the disk, then restart; "
            "what was acknowledged is there",
        )
