"""What can go wrong when talking to the daemon: the class says what to do, the reason says why.

One class for each gRPC code that the daemon uses, NoDaemonError for when there is nobody to talk to, and
NoAnswerError for who wants an answer and nothing else. Otherwise a run that fails is no error: it is a Run
in the state FAILED.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aeond_client.runs import Run
    from aeond_client.sockets import SocketAddress


class AeondError(Exception):
    """Root of everything that this package raises on purpose.

    `reason` is a stable UPPER_SNAKE word for programs, `message` plain words for people, `field` the part
    of the request that is at fault ("" where none is), `retry_after_seconds` how long the daemon asks to
    wait (0 where it says nothing), `error_id` what to look for in the daemon's log ("" where there is
    nothing to find).
    """

    reason = "UNKNOWN"

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        field: str = "",
        retry_after_seconds: float = 0.0,
        error_id: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or type(self).reason
        self.field = field
        self.retry_after_seconds = retry_after_seconds
        self.error_id = error_id


class InvalidInputError(AeondError):
    """INVALID_ARGUMENT: fix the request; `field` names the part at fault."""

    reason = "INVALID_INPUT"


class NotFoundError(AeondError):
    """NOT_FOUND: there is no such thing."""

    reason = "NOT_FOUND"


class AlreadyExistsError(AeondError):
    """ALREADY_EXISTS: there is one; use that one."""

    reason = "ALREADY_EXISTS"


class WrongStateError(AeondError):
    """FAILED_PRECONDITION: not in this state; look at the state first."""

    reason = "WRONG_STATE"


class RefusedError(AeondError):
    """PERMISSION_DENIED: ask for the right."""

    reason = "REFUSED"


class OverloadedError(AeondError):
    """RESOURCE_EXHAUSTED: wait `retry_after_seconds` and try again."""

    reason = "OVERLOADED"


class UnavailableError(AeondError):
    """UNAVAILABLE: the daemon starts, ends or went away; try again after `retry_after_seconds`."""

    reason = "UNAVAILABLE"


class NoDaemonError(UnavailableError):
    """Nobody listens on any socket; `tried` says where we looked."""

    reason = "NO_DAEMON"

    def __init__(self, message: str, *, tried: tuple[SocketAddress, ...] = ()) -> None:
        super().__init__(message)
        self.tried = tried


class TimedOutError(AeondError):
    """DEADLINE_EXCEEDED: no answer in time; what was asked may still have been done."""

    reason = "TIMED_OUT"


class CallCancelledError(AeondError):
    """CANCELLED: the call was cut short, by us or by the daemon."""

    reason = "CALL_CANCELLED"


class NotOfferedError(AeondError):
    """UNIMPLEMENTED: this version of the daemon does not answer that call."""

    reason = "NOT_IMPLEMENTED"


class DataLossError(AeondError):
    """DATA_LOSS: journal and program disagree; the run is refused and its events are kept."""

    reason = "REPLAY_MISMATCH"


class DaemonError(AeondError):
    """INTERNAL: the daemon or a part of it failed; `error_id` finds it in the daemon's log."""

    reason = "INTERNAL"


class NoAnswerError(AeondError):
    """The run gave no answer: it was cancelled, failed, or waits for a person; `run` tells which."""

    reason = "NO_ANSWER"

    def __init__(self, message: str, *, run: Run) -> None:
        super().__init__(message)
        self.run = run
