"""Records as JSON."""

import json

from aeon_cli.text.encoding import kind_of, plain
from aeond.api.v1 import events_pb2
from aeond_client.calls.reading import event
from aeond_client.events import Event, RunEnded, StepEnded, TextDelta, UnknownKind
from aeond_client.records.runs import Plan, PlanStep, RunState, StepState


def test_an_event_says_its_kind_and_its_data() -> None:
    """A program finds number, kind and data of every event in the same place."""
    ended = Event("run", 3, 1.5, 0.5, StepEnded("s1", StepState.SUCCEEDED, output={"a": [1]}))
    encoded = json.loads(json.dumps(plain(ended)))
    assert {name: encoded[name] for name in ("run_id", "seq", "time", "elapsed_seconds", "kind")} == {
        "run_id": "run",
        "seq": 3,
        "time": 1.5,
        "elapsed_seconds": 0.5,
        "kind": "step_ended",
    }
    assert encoded["data"]["state"] == "succeeded"
    assert encoded["data"]["output"] == {"a": [1]}


def test_kinds_have_the_names_of_the_api() -> None:
    """The kind in JSON is the name of the field in the contract, for every kind there is."""
    for field in events_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields:
        wire = events_pb2.Event(run_id="run")
        getattr(wire, field.name).SetInParent()
        assert kind_of(event(wire)) == field.name
    assert kind_of(Event("run", 1, 0, 0, UnknownKind())) == "unknown"
    assert kind_of(Event("run", 0, 0, 0, TextDelta("x"))) == "text_delta"


def test_records_within_records_are_objects() -> None:
    """Nested records, tuples and absent ones become objects, lists and null."""
    assert plain(Plan("goal", (PlanStep("s1", depends_on=("s0",)),)))["steps"][0]["depends_on"] == ["s0"]
    assert plain(RunEnded(RunState.FAILED)) == {"state": "failed", "problem": None}
