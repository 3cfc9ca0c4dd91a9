"""The error tree: the class tells the caller how to react, the reason tells a program why.

Every error carries a stable UPPER_SNAKE `reason`, a message that says what to do next, and, for bad input,
the `field` that caused it. The server maps each class to one gRPC code. An exhausted budget, a failed tool, a
failed repair and a cancelled run are data and never raised as errors.
"""

from collections.abc import Sequence


class AeondError(Exception):
    """Base class of all errors that aeond raises deliberately."""

    reason = "INTERNAL"
    field = ""

    def __init__(self, message: str, *, reason: str | None = None, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        if reason is not None:
            self.reason = reason


class InvalidInputError(AeondError):
    """The request is invalid: correct it. `field` names the part at fault."""

    reason = "INVALID_INPUT"


class NotFoundError(AeondError):
    """The object does not exist: do not retry."""

    reason = "NOT_FOUND"


class AlreadyExistsError(AeondError):
    """The object exists already: use it."""

    reason = "ALREADY_EXISTS"


class WrongStateError(AeondError):
    """Not possible in the current state: check the state first."""

    reason = "WRONG_STATE"


class RefusedError(AeondError):
    """Permission denied: ask for access."""

    reason = "REFUSED"


class OverloadedError(AeondError):
    """Too many requests: wait `retry_after_seconds` and retry."""

    reason = "OVERLOADED"

    def __init__(
        self, message: str, *, reason: str | None = None, field: str = "", retry_after_seconds: float = 1.0
    ) -> None:
        super().__init__(message, reason=reason, field=field)
        self.retry_after_seconds = retry_after_seconds


class UnavailableError(AeondError):
    """The daemon is starting or draining: retry after `retry_after_seconds`."""

    reason = "UNAVAILABLE"

    def __init__(
        self, message: str, *, reason: str | None = None, field: str = "", retry_after_seconds: float = 1.0
    ) -> None:
        super().__init__(message, reason=reason, field=field)
        self.retry_after_seconds = retry_after_seconds


class NotImplementedYetError(AeondError):
    """The API defines this call, but this version does not implement it."""

    reason = "NOT_IMPLEMENTED"


class CapabilityError(AeondError):
    """A tool, model or store failed; `retryable` says whether a retry can help."""

    reason = "CAPABILITY_FAILED"

    def __init__(
        self, message: str, *, reason: str | None = None, field: str = "", retryable: bool = False
    ) -> None:
        super().__init__(message, reason=reason, field=field)
        self.retryable = retryable


class LLMError(CapabilityError):
    """The model call failed; the engine is still running."""

    reason = "LLM_FAILED"


class LLMGoneError(LLMError):
    """The engine died during the call: retry once it is back."""

    reason = "LLM_GONE"


class ToolError(CapabilityError):
    """Raised by a tool's author: the call failed, with the cause.

    `field` names the argument at fault; `candidates` are values that exist for it, the most likely first.
    """

    reason = "TOOL_FAILED"
    candidates: tuple[str, ...] = ()

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        field: str = "",
        retryable: bool = False,
        candidates: Sequence[str] = (),
    ) -> None:
        super().__init__(message, reason=reason, field=field, retryable=retryable)
        self.candidates = tuple(candidates)


class StoreError(CapabilityError):
    """The journal or the memory could not be read or written."""

    reason = "STORE_FAILED"


class ReplayError(AeondError):
    """Journal and code disagree: the run is rejected and its events are kept."""

    reason = "REPLAY_MISMATCH"
