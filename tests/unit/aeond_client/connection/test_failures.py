"""Translation of failed calls."""

from typing import Any

import grpc
import pytest

from aeond_client import errors
from aeond_client.connection.failures import error_of, may_follow_on, may_repeat

STATUSES = grpc.StatusCode


class Failed:
    """A call that ended with a status."""

    def __init__(self, code: grpc.StatusCode, details: str = "words", **metadata: str) -> None:
        self._code = code
        self._details = details
        self._metadata = tuple((name.replace("_", "-"), value) for name, value in metadata.items())

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._details

    def trailing_metadata(self) -> Any:
        return self._metadata


def test_the_daemons_words_and_metadata_arrive() -> None:
    """Message, reason, field, pause and error id are those that the daemon sent."""
    error = error_of(
        Failed(
            STATUSES.UNAVAILABLE, "soon", reason="STARTING", retry_after_ms="1500", field="f", error_id="e"
        )
    )
    assert type(error) is errors.UnavailableError
    assert (error.message, error.reason, error.field, error.error_id) == ("soon", "STARTING", "f", "e")
    assert error.retry_after_seconds == 1.5


@pytest.mark.parametrize("pause", ["", "soon", "-5"])
def test_a_pause_that_is_no_number_is_none(pause: str) -> None:
    """Metadata that makes no sense does no harm."""
    assert error_of(Failed(STATUSES.UNAVAILABLE, retry_after_ms=pause)).retry_after_seconds == 0.0


@pytest.mark.parametrize("code", [STATUSES.UNAVAILABLE, STATUSES.INTERNAL, STATUSES.UNKNOWN])
def test_a_status_that_no_daemon_sent_is_a_lost_connection(code: grpc.StatusCode) -> None:
    """A status that gRPC generates when the connection dies is reported as a lost daemon."""
    error = error_of(Failed(code, "Received RST_STREAM with error code 2"))
    assert isinstance(error, errors.UnavailableError)
    assert error.reason == "CONNECTION_LOST"


def test_a_daemons_bug_is_no_lost_connection() -> None:
    """An internal error that the daemon reports is its own, and is not repeated."""
    error = error_of(Failed(STATUSES.INTERNAL, reason="INTERNAL", error_id="e1"))
    assert type(error) is errors.DaemonError
    assert not may_repeat(error, repeatable=True)
    assert not may_follow_on(error)


def test_a_message_too_large_for_us_is_not_asked_for_again() -> None:
    """A message that exceeds gRPC's size limit is not requested again."""
    error = error_of(Failed(STATUSES.RESOURCE_EXHAUSTED, "larger than max"))
    assert error.reason == "MESSAGE_TOO_LARGE"
    assert "exceeds gRPC's limit (larger than max)" in str(error)
    assert not may_follow_on(error)


@pytest.mark.parametrize(
    ("reason", "repeatable", "repeated"),
    [
        ("", True, True),
        ("", False, False),
        ("STARTING", False, True),
        ("DRAINING", False, True),
        ("LLM_GONE", False, False),
    ],
)
def test_only_what_is_safe_is_repeated(reason: str, repeatable: bool, repeated: bool) -> None:
    """A call with effects is repeated only when the daemon says that it did not begin it."""
    metadata = {"reason": reason} if reason else {}
    assert may_repeat(error_of(Failed(STATUSES.UNAVAILABLE, **metadata)), repeatable=repeatable) is repeated


@pytest.mark.parametrize(
    ("code", "reason", "followed"),
    [
        (STATUSES.UNAVAILABLE, "DRAINING", True),
        (STATUSES.RESOURCE_EXHAUSTED, "STREAM_STALLED", True),
        (STATUSES.CANCELLED, "", True),
        (STATUSES.DEADLINE_EXCEEDED, "", True),
        (STATUSES.NOT_FOUND, "RUN_NOT_FOUND", False),
        (STATUSES.INVALID_ARGUMENT, "SEQ_AHEAD", False),
        (STATUSES.DATA_LOSS, "REPLAY_MISMATCH", False),
    ],
)
def test_a_watch_goes_on_where_the_run_is_not_at_fault(
    code: grpc.StatusCode, reason: str, followed: bool
) -> None:
    """A cut stream is taken up again, a refused one is not."""
    metadata = {"reason": reason} if reason else {}
    assert may_follow_on(error_of(Failed(code, **metadata))) is followed
