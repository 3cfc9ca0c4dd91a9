"""Errors as gRPC statuses: one code for each class, and metadata that programs can rely on.

Trailing metadata: `reason` always; `field` for invalid input; `retry-after-ms` if waiting helps; `error-id`
for internal errors; `last-seq` if a stream can be resumed.
"""

import grpc

from aeond import errors
from aeond.frozen import frozen

MAX_MESSAGE_BYTES = 1_500  # percent-encoded it is at most three times that: clients accept 8 KiB of metadata

_CODES: tuple[tuple[type[errors.AeondError], grpc.StatusCode], ...] = (
    (errors.InvalidInputError, grpc.StatusCode.INVALID_ARGUMENT),
    (errors.NotFoundError, grpc.StatusCode.NOT_FOUND),
    (errors.AlreadyExistsError, grpc.StatusCode.ALREADY_EXISTS),
    (errors.WrongStateError, grpc.StatusCode.FAILED_PRECONDITION),
    (errors.RefusedError, grpc.StatusCode.PERMISSION_DENIED),
    (errors.OverloadedError, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (errors.UnavailableError, grpc.StatusCode.UNAVAILABLE),
    (errors.NotImplementedYetError, grpc.StatusCode.UNIMPLEMENTED),
    (errors.ReplayError, grpc.StatusCode.DATA_LOSS),
)


@frozen
class Status:
    """The final status of a failed call."""

    code: grpc.StatusCode
    message: str
    metadata: tuple[tuple[str, str], ...]


def status_of(error: errors.AeondError) -> Status:
    """Maps an error to its status."""
    metadata = [("reason", error.reason)]
    if error.field:
        metadata.append(("field", error.field))
    if isinstance(error, errors.OverloadedError | errors.UnavailableError):
        metadata.append(("retry-after-ms", str(max(0, round(error.retry_after_seconds * 1000)))))
    return Status(_code_of(error), _bounded(error.message), tuple(metadata))


def bug_status(error_id: str) -> Status:
    """The status of an unexpected failure; the daemon's log has the details under this id."""
    message = f"Internal error. The daemon's log has the details under error id {error_id}."
    return Status(grpc.StatusCode.INTERNAL, message, (("reason", "INTERNAL"), ("error-id", error_id)))


def _code_of(error: errors.AeondError) -> grpc.StatusCode:
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    if isinstance(error, errors.CapabilityError) and error.retryable:
        return grpc.StatusCode.UNAVAILABLE
    return grpc.StatusCode.INTERNAL


def _bounded(message: str) -> str:
    encoded = message.encode("utf-8", "replace")
    if len(encoded) <= MAX_MESSAGE_BYTES:
        return encoded.decode()
    return encoded[:MAX_MESSAGE_BYTES].decode("utf-8", "ignore") + " ..."
