"""Events from the wire to records."""

import pytest

from aeond.api.v1 import events_pb2, parts_pb2
from aeond_client import events
from aeond_client.calls.reading import event
from aeond_client.events import RunCreated, UnknownKind

KINDS = [field.name for field in events_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields]
KNOWN = {name for name in KINDS if hasattr(events, "".join(word.capitalize() for word in name.split("_")))}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_read_even_when_it_is_empty(name: str) -> None:
    """Every kind of the contract becomes the record of its name, or one that keeps the name."""
    wire = events_pb2.Event(run_id="run", seq=7)
    getattr(wire, name).SetInParent()
    read = event(wire)
    assert (read.run_id, read.seq) == ("run", 7)
    if name in KNOWN:
        assert type(read.kind).__name__.lower() == name.replace("_", "")
    else:
        assert read.kind == UnknownKind(name)


def test_every_kind_that_is_sent_has_a_record() -> None:
    """Only kinds that no daemon of this version sends have no record of their own."""
    assert {"run_created", "step_ended", "answer_composed", "text_delta", "progress"} <= KNOWN
    assert all(events_pb2.Event.DESCRIPTOR.fields_by_name[name].number >= 40 for name in set(KINDS) - KNOWN)


def test_a_creation_keeps_what_was_asked() -> None:
    """The first event of a run has the words, labels and model of its request, and the run that it comes from."""
    request = parts_pb2.RunRequest(text="What?", labels={"from": "popup"}, model="tiny")
    wire = events_pb2.RunCreated(request=request, parent_run_id="above", forked_run_id="before")
    kind = event(events_pb2.Event(run_id="run", seq=1, run_created=wire)).kind
    assert isinstance(kind, RunCreated)
    assert (kind.text, kind.labels, kind.model) == ("What?", {"from": "popup"}, "tiny")
    assert (kind.parent_run_id, kind.forked_run_id) == ("above", "before")


def test_a_kind_that_the_contract_does_not_know_is_kept_as_unknown() -> None:
    """An event of a newer daemon keeps its number, so that nothing seems to be missing."""
    wire = events_pb2.Event.FromString(
        events_pb2.Event(run_id="run", seq=3).SerializeToString() + b"\xa2\x1f\x00"
    )
    assert event(wire).kind == UnknownKind()
    assert event(wire).seq == 3
