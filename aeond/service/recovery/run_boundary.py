"""The run boundary: an internal error ends the run in which it occurs, and no other."""

import logging
from typing import Final

import anyio

from aeond.domain.outcome import Problem
from aeond.domain.runs.events import Event, RunEnded
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.errors import AeondError, StoreError
from aeond.ports import Clock, Feed, Ids, Journal, RunLoop

# The journal cannot be used now; a run continues from it later.
TEMPORARY: Final = frozenset({"DISK_FULL", "JOURNAL_BUSY", "JOURNAL_STUCK"})
PROPAGATED: Final = TEMPORARY | {"JOURNAL_FAILED"}

log = logging.getLogger("aeond.runs")


class RunBoundary:
    """Executes run loops such that only failures of the journal propagate."""

    def __init__(self, *, journal: Journal, feed: Feed, clock: Clock, ids: Ids) -> None:
        self._journal = journal
        self._feed = feed
        self._clock = clock
        self._ids = ids

    async def execute(self, loop: RunLoop) -> RunSnapshot | None:
        """The run as its loop left it; None if an internal error ended the run, which is then FAILED.

        Raises StoreError (reason DISK_FULL) if the disk is so full that the run could not even be suspended,
        (JOURNAL_BUSY, JOURNAL_STUCK) if the journal was locked or did not respond, and (JOURNAL_FAILED) if nothing can
        be recorded any more.
        """
        run = None
        try:
            async with anyio.create_task_group():  # whatever the run's own code raises comes as a group
                run = await loop.execute()
        except ExceptionGroup as error:
            store_error = _store_error(error)
            if store_error is not None and store_error.reason in PROPAGATED:
                raise store_error from error
            error_id = self._ids.new_id()
            fields = {"kind": "run_broke", "run_id": loop.snapshot.run_id, "error_id": error_id}
            log.exception("an internal error ended a run", extra=fields)
            await self._end_as_failed(loop, error_id)
        return run

    async def _end_as_failed(self, loop: RunLoop, error_id: str) -> None:
        run_id = loop.snapshot.run_id
        # The loop may have failed between the journal and its own snapshot: only the journal is reliable.
        summary = await self._journal.summary(run_id)
        if summary is None or summary.state.ended:
            return
        problem = Problem(
            "INTERNAL", f"an internal error ended this run; the daemon's log has the details under {error_id}"
        )
        ended = Event(
            run_id,
            summary.last_seq + 1,
            self._clock.time(),
            loop.snapshot.elapsed_seconds,
            RunEnded(RunState.FAILED, problem),
        )
        try:
            await self._journal.append([ended])
        except AeondError as error:
            if isinstance(error, StoreError) and error.reason in PROPAGATED:
                raise
            log.warning("the end of a run could not be recorded: %s", error, extra={"run_id": run_id})
        else:
            self._feed.publish([ended])


def _store_error(error: BaseException) -> StoreError | None:
    """The StoreError in an exception raised by a loop, however deeply nested in exception groups."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((found for one in error.exceptions if (found := _store_error(one)) is not None), None)
    return None
