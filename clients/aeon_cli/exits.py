"""What the exit status of aeonctl tells a script."""

from enum import IntEnum


class Exit(IntEnum):
    """One number per thing that a script would do differently."""

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
    Exit.ANSWERED: "done: the run answered, the command did what it says",
    Exit.FAILED: "the run or the tool failed, or the daemon answered with an error",
    Exit.USAGE: "the command or its input is wrong: nothing was done",
    Exit.NO_DAEMON: "no daemon answers, or it went away and did not come back in time",
    Exit.EXPIRED: "a budget of the run ran out; what it has is still its answer",
    Exit.CANCELLED: "the run was cancelled",
    Exit.WAITING: "the run waits for a person (see `aeonctl show`, `answer` and `decide`)",
    Exit.REFUSED: "not allowed, for example on this socket",
    Exit.BUSY: "the daemon is at its limits: try again later",
    Exit.INTERRUPTED: "interrupted by Ctrl-C; a run that was begun goes on",
    Exit.PIPE_CLOSED: "whoever read the output went away",
}
