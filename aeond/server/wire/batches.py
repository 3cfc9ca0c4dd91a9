"""Events on the wire, and batches of them, encoded once per event for all watchers.

On the wire, a response with `repeated Event events` is a sequence of events, each preceded by its field
number and length. The bytes of an event are therefore encoded once and concatenated for every watcher.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor

from aeond.api.v1 import events_pb2 as pb
from aeond.domain.runs.events import Event
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.server.streaming import Part
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


MAX_BATCH_BYTES = 256 * 1024  # approximate: a batch ends with the event that exceeds it
MAX_KEPT_BYTES = 1 << 20
MAX_KEPT_EVENT_BYTES = 16 * 1024

_LENGTH_DELIMITED = 2


class EventBytes:
    """Encoded events; the newest are cached."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._kept_bytes = 0

    def encode(self, item: Event | LiveUpdate) -> bytes:
        if not isinstance(item, Event):
            return live_update_to_wire(item).SerializeToString()
        key = (item.run_id, item.seq)
        encoded = self._kept.get(key)
        if encoded is None:
            encoded = event_to_wire(item).SerializeToString()
            if len(encoded) <= MAX_KEPT_EVENT_BYTES:
                self._keep(key, encoded)
        return encoded

    def _keep(self, key: tuple[str, int], encoded: bytes) -> None:
        self._kept[key] = encoded
        self._kept_bytes += len(encoded)
        while self._kept_bytes > MAX_KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest)


def batches(
    items: Sequence[Event | LiveUpdate], response: Descriptor, encoded: EventBytes, run_id: str = ""
) -> Iterator[Part]:
    """The items as messages of this type, as few as the size limit permits.

    With a run id, only the sequence numbers of that run determine the resume position.
    """
    tag = _varint(response.fields_by_name["events"].number << 3 | _LENGTH_DELIMITED)
    pieces: list[bytes] = []
    size, last_seq = 0, -1
    for item in items:
        event = encoded.encode(item)
        pieces += (tag, _varint(len(event)), event)
        size += len(event)
        if isinstance(item, Event) and run_id in ("", item.run_id):
            last_seq = item.seq
        if size >= MAX_BATCH_BYTES:
            yield Part(b"".join(pieces), last_seq)
            pieces, size = [], 0
    if pieces:
        yield Part(b"".join(pieces), last_seq)


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)
