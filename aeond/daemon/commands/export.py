"""Exports a run as JSON lines, while the daemon may be running."""

import json
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from aeond.capabilities.journal.encoding import StoredEvent
from aeond.capabilities.journal.projection import MAX_PAGE_EVENTS, MAX_PAGE_RUNS
from aeond.capabilities.journal.readers import read_page, read_runs
from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.journal.transcripts import export_stored
from aeond.capabilities.sqlite_readers import Readers
from aeond.daemon.commands.quarantine import write_new
from aeond.daemon.config.paths import Paths
from aeond.errors import NotFoundError
from aeond.ports.journal import RunFilter


async def _last(readers: Readers) -> str:
    """The newest run that is not a child run; "last" if there is none."""
    wanted = RunFilter(limit=MAX_PAGE_RUNS)
    while runs := await readers.run(partial(read_runs, wanted=wanted)):
        for run in runs:
            if not run.parent_run_id:
                return run.run_id
        wanted = replace(wanted, before=runs[-1].run_id)
    return "last"


async def export(paths: Paths, run_id: str, output: Path | None) -> tuple[int, bool]:
    """Writes the events of the run, or with `last` of the newest run that is not a child, as stored, to a new
    file or standard output; returns their number, and whether the run's end is among them.

    The journal is only read. NotFoundError (reason RUN_NOT_FOUND), AlreadyExistsError (reason
    TRANSCRIPT_EXISTS), RefusedError (reason TRANSCRIPT_REFUSED), StoreError if there is no journal or it
    cannot be read.
    """
    readers = Readers(paths.journal, JOURNAL)

    def page(after_seq: int) -> Awaitable[Sequence[StoredEvent]]:
        return readers.run(partial(read_page, run_id=run_id, after_seq=after_seq, limit=MAX_PAGE_EVENTS))

    try:
        if run_id == "last":
            run_id = await _last(readers)
        lines = [line async for line in export_stored(page)]
    finally:
        await readers.close()
    if not lines:
        raise NotFoundError(f"run {run_id!r} does not exist in {paths.journal}", reason="RUN_NOT_FOUND")
    if output is None:
        print("\n".join(lines))
    else:
        write_new(output.absolute(), lines)
    return len(lines), json.loads(lines[-1])["kind"] == "run_ended"
