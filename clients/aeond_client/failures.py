"""From a failed gRPC call to an error of ours."""

from collections.abc import Mapping
from typing import Any, Protocol

import grpc

from aeond_client.errors import (
    AeondError,
    AlreadyExistsError,
    CallCancelledError,
    DaemonError,
    DataLossError,
    InvalidInputError,
    NotFoundError,
    NotOfferedError,
    OverloadedError,
    RefusedError,
    TimedOutError,
    UnavailableError,
    WrongStateError,
)

REASON = "reason"
FIELD = "field"
ERROR_ID = "error-id"
RETRY_AFTER = "retry-after-ms"

_CLASSES: dict[grpc.StatusCode, type[AeondError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidInputError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExistsError,
    grpc.StatusCode.FAILED_PRECONDITION: WrongStateError,
    grpc.StatusCode.PERMISSION_DENIED: RefusedError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: OverloadedError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: TimedOutError,
    grpc.StatusCode.CANCELLED: CallCancelledError,
    grpc.StatusCode.UNIMPLEMENTED: NotOfferedError,
    grpc.StatusCode.DATA_LOSS: DataLossError,
}

# What gRPC reports when the other end of a connection dies in the middle of something.
_BROKEN_CONNECTION = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
}
_OWN_WORDS = {
    grpc.StatusCode.UNAVAILABLE: "The daemon does not answer: it ended or is just being restarted.",
    grpc.StatusCode.DEADLINE_EXCEEDED: "The daemon did not answer in time.",
    grpc.StatusCode.CANCELLED: "The call was cut short.",
}


class FailedCall(Protocol):
    """What the sync and the async kind of failed call have in common."""

    def code(self) -> grpc.StatusCode: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> Any: ...


def error_of(call: FailedCall) -> AeondError:
    """The error that says what the daemon, or gRPC in its place, said."""
    metadata = _metadata_of(call)
    code = call.code()
    kind = _CLASSES.get(code, DaemonError)
    reason = metadata.get(REASON, "")
    details = call.details() or code.name
    words = details if reason else _OWN_WORDS.get(code, details)
    if not reason and code in _BROKEN_CONNECTION:
        kind = CallCancelledError if code is grpc.StatusCode.CANCELLED else UnavailableError
        reason = "CONNECTION_LOST"
    if not reason and code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        kind, reason = DaemonError, "MESSAGE_TOO_LARGE"
        words = f"The request or its answer is larger than gRPC takes ({details}): ask for less at a time."
    return kind(
        words,
        reason=reason,
        field=metadata.get(FIELD, ""),
        retry_after_seconds=_number(metadata.get(RETRY_AFTER, "")) / 1_000,
        error_id=metadata.get(ERROR_ID, ""),
    )


def _metadata_of(call: FailedCall) -> Mapping[str, str]:
    return {key: item for key, item in call.trailing_metadata() or () if isinstance(item, str)}


def _number(text: str) -> float:
    try:
        return max(float(text), 0.0)
    except ValueError:
        return 0.0


def refused_before_it_began(error: AeondError) -> bool:
    """Whether the daemon itself said that it did not even begin: then any call may be repeated."""
    return isinstance(error, UnavailableError) and error.reason in {"STARTING", "DRAINING"}


def may_repeat(error: AeondError, *, repeatable: bool) -> bool:
    """Whether a call that failed so is worth a repeat, and safe to."""
    lost = isinstance(error, UnavailableError) or error.reason == "CONNECTION_LOST"
    return (lost and repeatable) or refused_before_it_began(error)


def may_follow_on(error: AeondError) -> bool:
    """Whether a watch that was cut so is to be attached again: the run is not at fault."""
    return isinstance(error, UnavailableError | CallCancelledError | TimedOutError | OverloadedError)
