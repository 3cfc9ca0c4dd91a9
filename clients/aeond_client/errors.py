"""Errors of the client: the class tells how to react, the reason tells why.

There is one class for each gRPC code that the daemon uses, NoDaemonError if no daemon is listening, and
NoAnswerError for calls that need an answer. A failed run is otherwise not an error: it is a Run in state
FAILED.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aeond_client.records.runs import Run
    from aeond_client.socket_address import SocketAddress


class AeondError(Exception):
    """Base class of all errors that this package raises deliberately.

    `reason` is a stable UPPER_SNAKE word for programs, `message` a description for people, `field` the
    invalid part of the request ("" if none), `retry_after_seconds` the delay requested by the daemon (0:
    none), `error_id` an id to search for in the daemon's log ("" if none).
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
    """INVALID_ARGUMENT: correct the request; `field` names the part at fault."""

    reason = "INVALID_INPUT"


class NotFoundError(AeondError):
    """NOT_FOUND: the object does not exist."""

    reason = "NOT_FOUND"


class AlreadyExistsError(AeondError):
    """ALREADY_EXISTS: the object exists already; use it."""

    reason = "ALREADY_EXISTS"


class WrongStateError(AeondError):
    """FAILED_PRECONDITION: not possible in the current state; check the state first."""

    reason = "WRONG_STATE"


class RefusedError(AeondError):
    """PERMISSION_DENIED: ask for access."""

    reason = "REFUSED"


class OverloadedError(AeondError):
    """RESOURCE_EXHAUSTED: wait `retry_after_seconds` and retry."""

    reason = "OVERLOADED"


class UnavailableError(AeondError):
    """UNAVAILABLE: the daemon is starting, stopping or gone; retry after `retry_after_seconds`."""

    reason = "UNAVAILABLE"


class NoDaemonError(UnavailableError):
    """No daemon is listening on any socket; `tried` lists the paths."""

    reason = "NO_DAEMON"

    def __init__(self, message: str, *, tried: tuple[SocketAddress, ...] = ()) -> None:
        super().__init__(message)
        self.tried = tried


class TimedOutError(AeondError):
    """DEADLINE_EXCEEDED: no reply in time; the request may still have been executed."""

    reason = "TIMED_OUT"


class CallCancelledError(AeondError):
    """CANCELLED: the call was interrupted by the client or the daemon."""

    reason = "CALL_CANCELLED"


class NotOfferedError(AeondError):
    """UNIMPLEMENTED: this version of the daemon does not implement the call."""

    reason = "NOT_IMPLEMENTED"


class DataLossError(AeondError):
    """DATA_LOSS: journal and program disagree; the run is rejected and its events are kept."""

    reason = "REPLAY_MISMATCH"


class DaemonError(AeondError):
    """INTERNAL: the daemon or a part of it failed; search its log for `error_id`."""

    reason = "INTERNAL"


class NoAnswerError(AeondError):
    """The run has no answer: it was cancelled, failed, or waits for a person; `run` has its state."""

    reason = "NO_ANSWER"

    def __init__(self, message: str, *, run: Run) -> None:
        super().__init__(message)
        self.run = run
