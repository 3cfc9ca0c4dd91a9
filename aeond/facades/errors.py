"""Why a façade cannot be served."""


class FacadeError(Exception):
    """`reason` is a stable UPPER_SNAKE word for programs, `message` says what to do."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
