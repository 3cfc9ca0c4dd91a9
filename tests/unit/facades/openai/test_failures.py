"""Errors in the form of the OpenAI API."""

import json

import pytest

from aeond.facades.openai.failures import of_daemon, refusal
from aeond_client import errors


@pytest.mark.parametrize(
    ("error", "status", "code", "retry"),
    [
        (errors.InvalidInputError("x", reason="CONTEXT_TOO_LONG"), 400, "context_length_exceeded", "false"),
        (errors.NotFoundError("x", reason="MODEL_NOT_FOUND"), 404, "model_not_found", "false"),
        (errors.WrongStateError("x", reason="MODEL_NOT_PRESENT"), 409, "model_not_present", "false"),
        (errors.OverloadedError("x", retry_after_seconds=3), 429, "overloaded", "true"),
        (errors.NoDaemonError("x"), 503, "no_daemon", "true"),
        (errors.DaemonError("x"), 500, "internal", "false"),
    ],
)
def test_an_error_of_the_daemon_has_a_status_and_a_code(
    error: errors.AeondError, status: int, code: str, retry: str
) -> None:
    """The class of the error is the status, its reason the code, and clients hear whether a repeat can help."""
    found = of_daemon(error)
    assert (found.status, found.code, found.headers["x-should-retry"]) == (status, code, retry)


def test_a_field_of_the_daemon_has_the_name_of_the_parameter() -> None:
    """The folder of a run and the schema of an answer are parameters of the API with names of their own."""
    error = errors.InvalidInputError("request.workspace must be absolute", field="request.workspace")
    assert of_daemon(error).param == "metadata.workspace"
    assert of_daemon(error).message == "metadata.workspace must be absolute"
    error = errors.InvalidInputError("The schema cannot be enforced", field="schema")
    assert (of_daemon(error).param, of_daemon(error).message) == ("response_format", error.message)


def test_a_refusal_of_the_listener_has_the_same_form() -> None:
    """A request without the key gets the error that the official clients know."""
    body = json.loads(refusal(401, "invalid_api_key", "no key"))
    assert body["error"] == {
        "message": "no key",
        "type": "authentication_error",
        "param": None,
        "code": "invalid_api_key",
    }
