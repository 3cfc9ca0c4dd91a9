"""Errors in the form of the OpenAI API, each with a stable code."""

import json
from typing import Any, Final

from aeond_client import errors

# What the daemon calls otherwise than the API of OpenAI.
_CODES: Final = {"CONTEXT_TOO_LONG": "context_length_exceeded"}
_PARAMS: Final = {
    "request.workspace": "metadata.workspace",
    "schema": "response_format",
    "schema_json": "response_format",
}
_STATUSES: Final[tuple[tuple[type[errors.AeondError], int], ...]] = (
    (errors.InvalidInputError, 400),
    (errors.NotFoundError, 404),
    (errors.AlreadyExistsError, 409),
    (errors.WrongStateError, 409),
    (errors.RefusedError, 403),
    (errors.OverloadedError, 429),
    (errors.UnavailableError, 503),
    (errors.TimedOutError, 504),
    (errors.CallCancelledError, 503),
    (errors.NotOfferedError, 501),
)
_TYPES: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_RETRYABLE: Final = (429, 503)


class ApiError(Exception):
    """An error for the client: HTTP status, code (a lower_snake word), message, and the parameter at fault if any.

    `retry_after` is the delay in seconds that the daemon asks for, 0 for none.
    """

    def __init__(
        self, status: int, code: str, message: str, *, param: str = "", retry_after: float = 0.0
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.retry_after = retry_after

    @property
    def body(self) -> dict[str, Any]:
        usual = "invalid_request_error" if self.status < 500 else "server_error"
        return {
            "error": {
                "message": self.message,
                "type": _TYPES.get(self.status, usual),
                "param": self.param or None,
                "code": self.code,
            }
        }

    @property
    def headers(self) -> dict[str, str]:
        """Says whether a repeat can help: the official clients repeat otherwise by the status alone."""
        found = {"x-should-retry": "true" if self.status in _RETRYABLE else "false"}
        if self.retry_after:
            found["retry-after"] = str(round(self.retry_after))
        return found


def unsupported(message: str, param: str = "") -> ApiError:
    """What the daemon cannot do, or this server does not translate."""
    return ApiError(400, "unsupported", message, param=param)


def invalid(message: str, param: str = "") -> ApiError:
    return ApiError(400, "invalid_value", message, param=param)


def of_daemon(error: errors.AeondError) -> ApiError:
    """An error of the daemon; its reason in lower case is the code."""
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
    param = _PARAMS.get(error.field, error.field)
    return ApiError(
        status,
        _CODES.get(error.reason, error.reason.lower()),
        error.message.replace(error.field, param) if "." in error.field else error.message,
        param=param,
        retry_after=error.retry_after_seconds,
    )


def refusal(status: int, reason: str, message: str) -> bytes:
    """The body for a request that the listener refuses."""
    return json.dumps(ApiError(status, reason, message).body).encode()
