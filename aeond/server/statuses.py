"""Errors as gRPC statuses: one code for each class, and metadata that programs can rely on.

Trailing metadata: `reason` always; `field` where input was at fault; `retry-after-ms` where waiting
helps; `error-id` for our own bugs; `last-seq` where a stream can be taken up again.
"""

import grpc

from aeond import errors
from aeond.frozen import frozen

MAX_MESSAGE_BYTES = 1_500  # percent-encoded it is at most three times that: clients take 8 KiB of metadata

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
    """What a failed call ends with."""

    code: grpc.StatusCode
    message: str
    metadata: tuple[tuple[str, str], ...]


def status_of(error: errors.AeondError) -> Status:
    """The status that tells a client what this error tells us."""
    metadata = [("reason", error.reason)]
    if error.field:
        metadata.append(("field", error.field))
    if isinstance(error, errors.OverloadedError | errors.UnavailableError):
        metadata.append(("retry-after-ms", str(max(0, round(error.retry_after_seconds * 1000)))))
    return Status(_code_of(error), _bounded(error.message), tuple(metadata))


def bug_status(error_id: str) -> Status:
    """The status of a failure that nobody foresaw: what happened is in the daemon's log under this id."""
    message = f"Something went wrong inside aeond. Its log says more under error id {error_id}."
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
