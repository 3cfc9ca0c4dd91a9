"""Checks the files of the stores before a start."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.memory.schema import MEMORY
from aeond.capabilities.sessions.sqlite_sessions import SESSIONS
from aeond.capabilities.sqlite_file import FileFormat, prepare
from aeond.capabilities.undo.sqlite_undo_log import UNDO
from aeond.daemon.config.paths import Paths


def store_checks(paths: Paths) -> Sequence[tuple[str, Callable[[], str]]]:
    """For each store its name, and a check that returns a finding about its file, which is only read. StoreError if it
    cannot be used.
    """
    return (
        ("journal", partial(_checked, paths.journal, JOURNAL)),
        ("memory", partial(_checked, paths.memory, MEMORY)),
        ("sessions", partial(_checked, paths.sessions, SESSIONS)),
        ("undo log", partial(_checked, paths.undo, UNDO)),
    )


def _checked(path: Path, form: FileFormat) -> str:
    if not path.exists():
        return f"{path} does not exist yet; the first start creates it"
    prepare(path, form)
    return f"{path} is intact"
