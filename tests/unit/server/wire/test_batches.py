from collections.abc import Sequence

import pytest

from aeond.api.v1 import runs_pb2
from aeond.domain.runs.events import Event, PassStarted, RunSuspended
from aeond.domain.runs.live_updates import LiveUpdate, TextDelta
from aeond.domain.runs.run import SuspendReason
from aeond.server.wire import batches as module
from aeond.server.wire.batches import EventBytes, batches
from aeond.server.wire.events import event_to_wire, live_update_to_wire

WATCH = runs_pb2.WatchRunResponse.DESCRIPTOR


def event(seq: int, text: str = "") -> Event:
    return Event("run-1", seq, 1.5, 0.5, RunSuspended(SuspendReason.DISK_FULL, text))


@pytest.mark.parametrize("response", [runs_pb2.WatchRunResponse, runs_pb2.RunAndWatchResponse])
def test_a_batch_is_what_protobuf_would_have_written(
    response: type[runs_pb2.WatchRunResponse] | type[runs_pb2.RunAndWatchResponse],
) -> None:
    """Putting encoded events together gives byte for byte the response that holds them."""
    items: Sequence[Event | LiveUpdate] = [
        event(1),
        TextDelta("run-1", "", "x" * 300, 0),
        event(2, "y" * 20_000),
    ]
    (part,) = batches(items, response.DESCRIPTOR, EventBytes())
    wire = [event_to_wire(i) if isinstance(i, Event) else live_update_to_wire(i) for i in items]
    assert part.message == response(events=wire).SerializeToString()
    assert part.last_seq == 2


def test_large_batches_are_split_without_loss() -> None:
    """No message grows far beyond its bound, and every event is in exactly one."""
    items = [event(seq, "z" * 30_000) for seq in range(1, 41)]
    parts = list(batches(items, WATCH, EventBytes()))
    assert all(len(part.message) < module.MAX_BATCH_BYTES + 31_000 for part in parts)
    seqs = [e.seq for part in parts for e in runs_pb2.WatchRunResponse.FromString(part.message).events]
    assert seqs == list(range(1, 41))
    assert [part.last_seq for part in parts] == sorted(part.last_seq for part in parts)
    assert parts[-1].last_seq == 40


def test_text_alone_moves_no_cursor() -> None:
    """A batch of live text says nothing about where to go on."""
    (part,) = batches([TextDelta("run-1", "", "x", 0)], WATCH, EventBytes())
    assert part.last_seq == -1


def test_an_event_is_encoded_once_for_all_watchers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second watcher of an event costs no second translation."""
    translated: list[int] = []

    def counting(item: Event) -> object:
        translated.append(item.seq)
        return event_to_wire(item)

    monkeypatch.setattr(module, "event_to_wire", counting)
    encoded = EventBytes()
    for _ in range(3):
        list(batches([event(1), event(2)], WATCH, encoded))
    assert translated == [1, 2]


def test_the_kept_events_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old events make room for new ones, and huge ones are not kept at all."""
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", 10_000)
    encoded = EventBytes()
    for seq in range(1, 100):
        encoded.encode(Event("run-1", seq, 1.0, 1.0, PassStarted(seq)))
        encoded.encode(event(1_000 + seq, "w" * 1_000))
        encoded.encode(event(2_000 + seq, "w" * 20_000))
    assert 0 < encoded.kept_bytes <= 10_000
