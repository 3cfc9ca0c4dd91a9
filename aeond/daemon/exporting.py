"""Writes a run down as lines of JSON, beside a daemon that goes on working."""

from collections.abc import Awaitable, Sequence
from functools import partial
from pathlib import Path

from aeond.capabilities.journal.encoding import StoredEvent
from aeond.capabilities.journal.projection import MAX_PAGE_EVENTS
from aeond.capabilities.journal.reading import Readers, read_page
from aeond.capabilities.journal.transcripts import export_stored
from aeond.daemon.paths import Paths
from aeond.daemon.quarantining import write_new
from aeond.errors import NotFoundError


async def export(paths: Paths, run_id: str, output: Path | None) -> int:
    """Writes the run's events as they lie there, to a new file or to standard output; says how many.

    The journal is only read. NotFoundError (reason RUN_NOT_FOUND), AlreadyExistsError (reason
    TRANSCRIPT_EXISTS), RefusedError (reason TRANSCRIPT_REFUSED), StoreError when there is no journal or it cannot be read.
    """
    readers = Readers(paths.journal)

    def page(after_seq: int) -> Awaitable[Sequence[StoredEvent]]:
        return readers.run(partial(read_page, run_id=run_id, after_seq=after_seq, limit=MAX_PAGE_EVENTS))

    try:
        lines = [line async for line in export_stored(page)]
    finally:
        readers.close()
    if not lines:
        raise NotFoundError(f"there is no run {run_id!r} in {paths.journal}", reason="RUN_NOT_FOUND")
    if output is None:
        print("\n".join(lines))
    else:
        write_new(output.absolute(), lines)
    return len(lines)
