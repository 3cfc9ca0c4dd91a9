"""W3C trace context: where a client's request belongs in a distributed trace."""

import re
from typing import Final, Self

from aeond.frozen import frozen

_FORM: Final = re.compile(
    r"(?P<version>(?!ff)[0-9a-f]{2})-(?P<trace>(?!0{32})[0-9a-f]{32})-(?P<span>(?!0{16})[0-9a-f]{16})"
    r"-(?P<flags>[0-9a-f]{2})(?P<rest>-.*)?"
)
_SAMPLED: Final = 0x01


@frozen
class TraceParent:
    """The caller's span: a trace id of 16 bytes, a span id of 8 bytes, and whether the caller records the trace."""

    trace_id: bytes
    span_id: bytes
    sampled: bool

    @classmethod
    def parse(cls, header: str) -> Self | None:
        """The context in a `traceparent` header; None if it is invalid, which W3C says to ignore."""
        found = _FORM.fullmatch(header)
        if found is None or (found["version"] == "00" and found["rest"]):
            return None
        sampled = bool(int(found["flags"], 16) & _SAMPLED)
        return cls(bytes.fromhex(found["trace"]), bytes.fromhex(found["span"]), sampled)
