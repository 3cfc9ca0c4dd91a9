"""How `aeond` ends: exit codes, and the one that an error stands for."""

from collections.abc import Iterator
from enum import IntEnum

from aeond.errors import AeondError, StoreError


class Exit(IntEnum):
    """The exit codes of every command of `aeond`."""

    OK = 0
    PROBLEM = 1  # doctor found something, or what was asked for did not work
    CONFIG = 2  # the configuration or the command line is wrong
    ANOTHER_INSTANCE = 3  # another daemon works with this state folder or answers on this socket
    JOURNAL = 4  # the journal or the memory cannot be used; nothing in it was changed
    SOCKET = 5  # the socket cannot be made
    SECRET = 6  # a secret lies where others can read it, or is not where the configuration says
    DISK = 7  # the disk failed under a journal that had been opened: a start reads back what it has
    BUG = 70  # our fault: the log has the trace


def errors_in(error: BaseException) -> Iterator[BaseException]:
    """The error itself, or every one that a group of tasks ended with."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from errors_in(one)
    else:
        yield error


def exit_for(error: AeondError) -> Exit:
    """What the daemon ends with when this stops it."""
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
