"""Exit codes of aeonctl."""

from enum import IntEnum


class Exit(IntEnum):
    """One code for each outcome that a script may need to distinguish."""

    ANSWERED = 0
    FAILED = 1
    USAGE = 2
    NO_DAEMON = 3
    EXPIRED = 4
    CANCELLED = 5
    WAITING = 6
    REFUSED = 7
    BUSY = 8
    INTERRUPTED = 130
    PIPE_CLOSED = 141


MEANINGS: dict[Exit, str] = {
    Exit.ANSWERED: "success: the run answered or the command did its work",
    Exit.FAILED: "failure: the run or tool failed, or the daemon returned an error",
    Exit.USAGE: "usage error: the command or its input is wrong; nothing was done",
    Exit.NO_DAEMON: "no daemon is listening, or it went away and did not return in time",
    Exit.EXPIRED: "a budget of the run is exhausted; the answer covers what was done",
    Exit.CANCELLED: "the run was cancelled",
    Exit.WAITING: "the run waits for a person (see `aeonctl show`, `answer`, `approvals` and `decide`)",
    Exit.REFUSED: "permission denied, for example on this socket",
    Exit.BUSY: "the daemon is overloaded: try again later",
    Exit.INTERRUPTED: "interrupted by Ctrl-C; a started run continues",
    Exit.PIPE_CLOSED: "the reader of the output closed the pipe",
}
