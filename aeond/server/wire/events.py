"""Translates events to the wire."""

from typing import Any

from aeond.api.v1 import events_pb2 as pb
from aeond.domain.runs.events import Event
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.server.wire.table import KINDS, to_wire
from aeond.server.wire.times import timestamp


def event_to_wire(event: Event) -> pb.Event:
    """A journaled event."""
    return _with_kind(
        event.kind,
        run_id=event.run_id,
        seq=event.seq,
        time=timestamp(event.time),
        elapsed_seconds=event.elapsed_seconds,
    )


def live_update_to_wire(update: LiveUpdate) -> pb.Event:
    """A live update, which is not journaled: it has neither number nor time."""
    return _with_kind(update, run_id=update.run_id)


def _with_kind(kind: object, **fields: Any) -> pb.Event:
    name, message = KINDS[type(kind).__name__]
    fields[name] = to_wire(kind, message)
    return pb.Event(**fields)
