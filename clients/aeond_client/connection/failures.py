"""Translates failed gRPC calls to the classes of this package."""

from collections.abc import Mapping
from typing import Any, Protocol

import grpc

from aeond_client import errors

REASON = "reason"
FIELD = "field"
ERROR_ID = "error-id"
RETRY_AFTER = "retry-after-ms"

_CLASSES: dict[grpc.StatusCode, type[errors.AeondError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidInputError,
    grpc.StatusCode.NOT_FOUND: errors.NotFoundError,
    grpc.StatusCode.ALREADY_EXISTS: errors.AlreadyExistsError,
    grpc.StatusCode.FAILED_PRECONDITION: errors.WrongStateError,
    grpc.StatusCode.PERMISSION_DENIED: errors.RefusedError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.OverloadedError,
    grpc.StatusCode.UNAVAILABLE: errors.UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.TimedOutError,
    grpc.StatusCode.CANCELLED: errors.CallCancelledError,
    grpc.StatusCode.UNIMPLEMENTED: errors.NotOfferedError,
    grpc.StatusCode.DATA_LOSS: errors.DataLossError,
}

# The error of gRPC when the other end of a connection dies during a call.
_BROKEN_CONNECTION = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
}
_OWN_WORDS = {
    grpc.StatusCode.UNAVAILABLE: "The daemon does not respond: it has stopped or is restarting.",
    grpc.StatusCode.DEADLINE_EXCEEDED: "The daemon did not respond in time.",
    grpc.StatusCode.CANCELLED: "The call was interrupted.",
}


class FailedCall(Protocol):
    """The common interface of failed sync and async calls."""

    def code(self) -> grpc.StatusCode: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> Any: ...


def error_of(call: FailedCall) -> errors.AeondError:
    """The error reported by the daemon, or by gRPC in its place."""
    metadata = _metadata_of(call)
    code = call.code()
    kind = _CLASSES.get(code, errors.DaemonError)
    reason = metadata.get(REASON, "")
    details = call.details() or code.name
    words = details if reason else _OWN_WORDS.get(code, details)
    if not reason and code in _BROKEN_CONNECTION:
        kind = errors.CallCancelledError if code is grpc.StatusCode.CANCELLED else errors.UnavailableError
        reason = "CONNECTION_LOST"
    if not reason and code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        kind, reason = errors.DaemonError, "MESSAGE_TOO_LARGE"
        words = f"The request or its reply exceeds gRPC's limit ({details}): request less at a time."
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


def refused_before_it_began(error: errors.AeondError) -> bool:
    """Whether the daemon rejected the call before starting it: then any call can be repeated."""
    return isinstance(error, errors.UnavailableError) and error.reason in {"STARTING", "DRAINING"}


def may_repeat(error: errors.AeondError, *, repeatable: bool) -> bool:
    """Whether a repeat of the failed call is useful and safe."""
    lost = isinstance(error, errors.UnavailableError) or error.reason == "CONNECTION_LOST"
    return (lost and repeatable) or refused_before_it_began(error)


def may_follow_on(error: errors.AeondError) -> bool:
    """Whether an interrupted watch should reconnect, because the run is not at fault."""
    return isinstance(
        error,
        errors.UnavailableError | errors.CallCancelledError | errors.TimedOutError | errors.OverloadedError,
    )
