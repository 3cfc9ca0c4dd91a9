"""Exit codes of `aeond`, and their mapping from errors."""

from collections.abc import Iterator
from enum import IntEnum

from aeond.errors import AeondError, StoreError


class Exit(IntEnum):
    """The exit codes of every command of `aeond`."""

    OK = 0
    PROBLEM = 1  # doctor found a problem, or the requested action failed
    CONFIG = 2  # the configuration or the command line is invalid
    ANOTHER_INSTANCE = 3  # another daemon uses this state folder or listens on this socket
    JOURNAL = 4  # the journal or the memory cannot be used; nothing in it was changed
    SOCKET = 5  # the socket cannot be created
    SECRET = 6  # a secret is readable by other users, or is missing
    DISK = 7  # the disk failed under an open journal: a new start reads what was stored
    BUG = 70  # an internal error: the log has the traceback


def errors_in(error: BaseException) -> Iterator[BaseException]:
    """The error itself, or all errors of an exception group."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from errors_in(one)
    else:
        yield error


def exit_for(error: AeondError) -> Exit:
    """The exit code for an error that stops the daemon."""
    if error.reason in {"ANOTHER_INSTANCE", "SOCKET_IN_USE"}:
        return Exit.ANOTHER_INSTANCE
    if error.reason.startswith("SOCKET_"):
        return Exit.SOCKET
    if error.reason.startswith("SECRET_"):
        return Exit.SECRET
    if error.reason == "JOURNAL_FAILED":
        return Exit.DISK
    if isinstance(error, StoreError):
        return Exit.JOURNAL
    return Exit.CONFIG
