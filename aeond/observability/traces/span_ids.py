"""The ids of spans and traces: they follow from the id of the run and the numbers of its events.

BLAKE2 comes with Python: in a daemon at work it takes half the time of a hash for which OpenSSL looks up its algorithm.
"""

from hashlib import blake2b
from typing import Final

from aeond.domain.runs.events import RunCreated
from aeond.trace_context import TraceParent

RUN: Final = "run"
CALLER: Final = "caller"
# Multiples of an odd number differ, up to as many as there are ids.
_IDS_OF_EVENT: Final = 64
_SPREAD: Final = 0x9E37_79B9_7F4A_7C15
_LARGEST: Final = (1 << 64) - 1
_BETWEEN_EVENTS: Final = _IDS_OF_EVENT * _SPREAD
_FROM_STEP_TO_CALL: Final = (_IDS_OF_EVENT + 1) * _SPREAD


def span_id(run_id: str, name: str) -> bytes:
    """The id of a span of a run that other runs know, too; `name` is RUN for the run itself, CALLER for the call
    that started it."""
    return _digest(run_id, name)[:8]


def trace_id(run_id: str) -> bytes:
    """The id of the trace of a run that no other trace asked for."""
    return blake2b(run_id.encode(), digest_size=16).digest()


def place_of(run_id: str, created: RunCreated, caller: TraceParent | None) -> TraceParent:
    """Where a run belongs: below the call of the run that started it, whose place is `caller`, or below the span of the
    client that asked for it, or, with an empty id of a span, in a trace of its own."""
    if caller is not None:
        return TraceParent(caller.trace_id, span_id(run_id, CALLER), caller.sampled)
    header = created.request.trace_parent
    above = TraceParent.parse(header) if header else None
    return above or TraceParent(trace_id(run_id), b"", sampled=True)


def id_number(id_: bytes) -> int:
    """The id of a span as the number that is encoded."""
    return int.from_bytes(id_, "little")


def _digest(run_id: str, name: str) -> bytes:
    return blake2b(f"{run_id} {name}".encode(), digest_size=16).digest()


class SpanIds:
    """The ids of the spans of one run, as numbers."""

    def __init__(self, run_id: str) -> None:
        digest = _digest(run_id, RUN)
        self.run = id_number(digest[:8])
        self._first = id_number(digest[8:16])

    def of_event(self, seq: int, which: int = 0) -> int:
        """The id of one of the spans that begin or end with this event."""
        return (self._first + (seq * _IDS_OF_EVENT + which) * _SPREAD) & _LARGEST

    def of_step(self, seq: int) -> tuple[int, int]:
        """`of_event(seq)` for a step that began with this event, and `of_event(seq + 1, 1)` for its call, which ended with the next one."""
        own = self._first + seq * _BETWEEN_EVENTS
        return own & _LARGEST, (own + _FROM_STEP_TO_CALL) & _LARGEST
