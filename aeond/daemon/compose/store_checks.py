"""Checks the files of the stores before a start."""

from pathlib import Path

from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.memory.schema import MEMORY
from aeond.capabilities.sessions.sqlite_sessions import SESSIONS
from aeond.capabilities.sqlite_file import FileFormat, prepare
from aeond.capabilities.undo.sqlite_undo_log import UNDO
from aeond.daemon.config.paths import Paths


def check_journal(paths: Paths) -> str:
    """A finding about the journal's file, which is only read. StoreError if it cannot be used."""
    return _checked(paths.journal, JOURNAL)


def check_memory(paths: Paths) -> str:
    """A finding about the memory's file."""
    return _checked(paths.memory, MEMORY)


def check_sessions(paths: Paths) -> str:
    """A finding about the sessions' file."""
    return _checked(paths.sessions, SESSIONS)


def check_undo(paths: Paths) -> str:
    """A finding about the undo log's file."""
    return _checked(paths.undo, UNDO)


def _checked(path: Path, form: FileFormat) -> str:
    if not path.exists():
        return f"{path} does not exist yet; the first start creates it"
    prepare(path, form)
    return f"{path} is intact"
