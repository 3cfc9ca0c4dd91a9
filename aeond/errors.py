"""The error tree: the class tells the caller what to do, the reason tells a program why.

Every error carries a stable UPPER_SNAKE `reason`, a message in plain words that says what to do
next, and, where input was at fault, the `field` that caused it. The server maps each class to one
gRPC code. Not errors, and never raised: a spent budget, a failed tool, a failed repair, a cancelled
run; those are data.
"""


class AeondError(Exception):
    """Root of everything that aeond raises on purpose."""

    reason = "INTERNAL"

    def __init__(self, message: str, *, reason: str | None = None, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        if reason is not None:
            self.reason = reason


class InvalidInputError(AeondError):
    """The request is wrong: fix it. `field` names the part at fault."""

    reason = "INVALID_INPUT"


class NotFoundError(AeondError):
    """There is no such thing: stop asking."""

    reason = "NOT_FOUND"


class AlreadyExistsError(AeondError):
    """There is one already: use that one."""

    reason = "ALREADY_EXISTS"


class WrongStateError(AeondError):
    """Not in this state: look at the state first."""

    reason = "WRONG_STATE"


class RefusedError(AeondError):
    """Not allowed: ask for the right."""

    reason = "REFUSED"


class OverloadedError(AeondError):
    """Too much at once: wait `retry_after_seconds` and try again."""

    reason = "OVERLOADED"

    def __init__(
        self, message: str, *, reason: str | None = None, field: str = "", retry_after_seconds: float = 1.0
    ) -> None:
        super().__init__(message, reason=reason, field=field)
        self.retry_after_seconds = retry_after_seconds


class UnavailableError(AeondError):
    """The daemon is starting or draining: try again after `retry_after_seconds`."""

    reason = "UNAVAILABLE"

    def __init__(
        self, message: str, *, reason: str | None = None, field: str = "", retry_after_seconds: float = 1.0
    ) -> None:
        super().__init__(message, reason=reason, field=field)
        self.retry_after_seconds = retry_after_seconds


class NotImplementedYetError(AeondError):
    """The contract knows this call, this version does not answer it."""

    reason = "NOT_IMPLEMENTED"


class CapabilityError(AeondError):
    """A tool, model or store failed; `retryable` says whether trying again can help."""

    reason = "CAPABILITY_FAILED"

    def __init__(
        self, message: str, *, reason: str | None = None, field: str = "", retryable: bool = False
    ) -> None:
        super().__init__(message, reason=reason, field=field)
        self.retryable = retryable


class LLMError(CapabilityError):
    """The model call failed; the engine is still there."""

    reason = "LLM_FAILED"


class LLMGoneError(LLMError):
    """The engine died during the call: the call may be made again once it is back."""

    reason = "LLM_GONE"


class ToolError(CapabilityError):
    """A tool's author says that the call failed, and why."""

    reason = "TOOL_FAILED"


class StoreError(CapabilityError):
    """The journal or the memory could not be read or written."""

    reason = "STORE_FAILED"


class ReplayError(AeondError):
    """Journal and code disagree: the run is refused and its events are kept."""

    reason = "REPLAY_MISMATCH"
