"""A trace of the popup for tests and benchmarks: one JSON line for each entry, with its time."""

import json
import os
import time
from typing import Any

VARIABLE = "AEON_POPUP_TRACE"


class Trace:
    """Writes to the file or FIFO named by AEON_POPUP_TRACE; without it, does nothing.

    Each line has `what` and `at`, seconds of the monotonic clock, which all processes of a machine share.
    """

    def __init__(self, path: str = "") -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) if path else None

    @property
    def active(self) -> bool:
        """Whether entries are written."""
        return self._descriptor is not None

    def __call__(self, what: str, **fields: Any) -> None:
        if self._descriptor is not None:
            line = json.dumps({"what": what, "at": time.monotonic(), **fields})
            os.write(self._descriptor, line.encode() + b"\n")


def from_environment() -> Trace:
    return Trace(os.environ.get(VARIABLE, ""))
