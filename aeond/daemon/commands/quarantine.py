"""Moves a run that prevents normal operation out of the journal, while the daemon is stopped."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.capabilities.journal.transcripts import export_stored
from aeond.daemon.config.paths import Paths
from aeond.daemon.lifecycle.locking import single_instance
from aeond.errors import AlreadyExistsError, NotFoundError, RefusedError


async def quarantine(paths: Paths, run_id: str) -> Path:
    """Moves a run's events into a file of JSON lines, and returns that file.

    The lines are on disk before the run is removed from the journal. NotFoundError (reason RUN_NOT_FOUND),
    AlreadyExistsError (reason ANOTHER_INSTANCE while a daemon runs, TRANSCRIPT_EXISTS), RefusedError (reason
    FOLDER_REFUSED or TRANSCRIPT_REFUSED).
    """
    with single_instance(paths.lock):
        async with SqliteJournal(paths.journal) as journal:
            lines = [line async for line in export_stored(partial(journal.read_stored, run_id))]
            if not lines:
                raise NotFoundError(
                    f"run {run_id!r} does not exist in {paths.journal}", reason="RUN_NOT_FOUND"
                )
            transcript = paths.quarantine_dir / f"{run_id.replace('/', '_')}.jsonl"
            write_new(transcript, lines, make_folder=True)
            await journal.remove([run_id])
    return transcript


def write_new(file: Path, lines: Sequence[str], *, make_folder: bool = False) -> None:
    """Writes a new file for this user alone, and returns once it is on disk; the folder must exist, or is
    created on request.

    AlreadyExistsError (reason TRANSCRIPT_EXISTS), RefusedError (reason TRANSCRIPT_REFUSED).
    """
    try:
        if make_folder:
            file.parent.mkdir(mode=0o700, exist_ok=True)
        _write_new(file, lines)
    except FileExistsError as error:
        raise AlreadyExistsError(
            f"{error.filename} exists already: move it away first", reason="TRANSCRIPT_EXISTS"
        ) from None
    except OSError as error:
        raise RefusedError(
            f"{file} cannot be written ({error.strerror}): correct that, or give another path",
            reason="TRANSCRIPT_REFUSED",
        ) from error


def _write_new(file: Path, lines: Sequence[str]) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as written:
        written.writelines(f"{line}\n" for line in lines)
        written.flush()
        os.fsync(written.fileno())
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
