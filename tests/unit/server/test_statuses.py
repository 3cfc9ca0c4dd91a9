import grpc
import pytest

from aeond import errors
from aeond.server.statuses import bug_status, status_of

CODES = {
    errors.AeondError: grpc.StatusCode.INTERNAL,
    errors.InvalidInputError: grpc.StatusCode.INVALID_ARGUMENT,
    errors.NotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.AlreadyExistsError: grpc.StatusCode.ALREADY_EXISTS,
    errors.WrongStateError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.RefusedError: grpc.StatusCode.PERMISSION_DENIED,
    errors.OverloadedError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.UnavailableError: grpc.StatusCode.UNAVAILABLE,
    errors.NotImplementedYetError: grpc.StatusCode.UNIMPLEMENTED,
    errors.ReplayError: grpc.StatusCode.DATA_LOSS,
    errors.CapabilityError: grpc.StatusCode.INTERNAL,
    errors.LLMError: grpc.StatusCode.INTERNAL,
    errors.LLMGoneError: grpc.StatusCode.INTERNAL,
    errors.ToolError: grpc.StatusCode.INTERNAL,
    errors.StoreError: grpc.StatusCode.INTERNAL,
}


def test_every_error_class_has_its_code() -> None:
    """Each class of the error tree becomes one code, and none is forgotten."""
    classes = {kind for kind in vars(errors).values() if isinstance(kind, type)}
    assert {kind for kind in classes if issubclass(kind, errors.AeondError)} == set(CODES)
    for kind, code in CODES.items():
        status = status_of(kind("What happened.", field="a.b"))
        assert status.code is code, kind
        assert ("reason", kind.reason) in status.metadata
        assert ("field", "a.b") in status.metadata


@pytest.mark.parametrize("kind", [errors.LLMGoneError, errors.StoreError])
def test_a_capability_that_may_work_again_is_unavailable(kind: type[errors.CapabilityError]) -> None:
    """A failed capability is UNAVAILABLE exactly when trying again can help."""
    assert status_of(kind("Gone.", retryable=True)).code is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("kind", [errors.OverloadedError, errors.UnavailableError])
def test_waiting_time_travels_in_milliseconds(
    kind: type[errors.OverloadedError] | type[errors.UnavailableError],
) -> None:
    """The retry delay is sent in milliseconds."""
    assert ("retry-after-ms", "250") in status_of(kind("Busy.", retry_after_seconds=0.25)).metadata


@pytest.mark.parametrize("message", ["a" * 5_000, "ü" * 5_000, "\ud800" * 5_000])
def test_a_long_message_fits_into_what_clients_take(message: str) -> None:
    """However long and strange a message is, it stays below the metadata that a client accepts."""
    shown = status_of(errors.InvalidInputError(message)).message
    assert len(shown.encode()) < 2_000
    assert shown.endswith("...")


def test_a_bug_shows_its_error_id_and_nothing_else() -> None:
    """An unexpected failure shows the client only an error id to search for in the log."""
    status = bug_status("id-7")
    assert status.code is grpc.StatusCode.INTERNAL
    assert dict(status.metadata) == {"reason": "INTERNAL", "error-id": "id-7"}
