"""The table is total: nothing of the contract is forgotten on the way out or on the way in."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from enum import EnumType
from typing import Any, get_args, get_type_hints

import pytest
from google.protobuf.descriptor import Descriptor, ServiceDescriptor

from aeond.api.v1 import (
    daemon_pb2,
    events_pb2,
    memory_pb2,
    models_pb2,
    policy_pb2,
    runs_pb2,
    sessions_pb2,
    tools_pb2,
)
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs import events
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.server.wire import requests
from aeond.server.wire.codec import Form, Shape
from aeond.server.wire.enums import number_by_name
from aeond.server.wire.table import KINDS, MAX_OUTPUT_BYTES, SHAPES, to_wire
from tests.support.likeness import filled
from tests.support.repository import ROOT, nodes_of

CONTRACTS = (daemon_pb2, memory_pb2, models_pb2, policy_pb2, runs_pb2, sessions_pb2, tools_pb2)
# Built where they are sent: a pair of values, and the frame of an event around its kind.
BUILT_IN_PLACE = {"MemoryEntry", "Event"}


def services() -> Iterator[ServiceDescriptor]:
    for contract in CONTRACTS:
        yield from contract.DESCRIPTOR.services_by_name.values()


def below(message: Descriptor, seen: set[str]) -> set[str]:
    """The names of the messages that can be part of this one, and of itself."""
    if message.name in seen or message.name == "Timestamp" or message.GetOptions().map_entry:
        return seen
    seen.add(message.name)
    for field in message.fields:
        if field.message_type is not None:
            below(field.message_type, seen)
    return seen


def test_every_message_that_is_sent_is_in_the_table() -> None:
    """Each message that a reply can contain has a shape, or only wraps messages and values that have one."""
    sent: set[str] = set()
    wrappers = set()
    for service in services():
        for method in service.methods:
            below(method.output_type, sent)
            wrappers.add(method.output_type.name)
    shaped = {shape.theirs.DESCRIPTOR.name for shape in SHAPES}
    assert sent - wrappers - shaped == BUILT_IN_PLACE
    assert shaped <= sent


def test_every_field_that_is_received_is_checked() -> None:
    """Each field of each request has a check in a form, or is read by the service that receives it."""
    formed = {form.theirs.DESCRIPTOR.name for form in vars(requests).values() if isinstance(form, Form)}
    read = {
        node.attr if isinstance(node, ast.Attribute) else str(getattr(node, "value", ""))
        for path in (*(ROOT / "aeond/server/services").glob("*.py"), ROOT / "aeond/server/wire/requests.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute | ast.Constant)
    }
    missing = []
    for service in services():
        for method in service.methods:
            for name in below(method.input_type, set()) - formed:
                message = method.input_type.file.pool.FindMessageTypeByName(f"aeond.api.v1.{name}")
                missing += [f"{name}.{field.name}" for field in message.fields if field.name not in read]
    assert missing == []


def test_every_kind_of_event_has_its_message() -> None:
    """The kinds of the domain and of the contract are the same."""
    kinds = {kind.__name__ for kind in (*get_args(events.EventKind), *get_args(LiveUpdate))}
    assert set(KINDS) == kinds


# In these two, one field decides whether another one is set.
WHOLE = [shape for shape in SHAPES if shape.theirs.DESCRIPTOR.name not in {"Run", "Step"}]


@pytest.mark.parametrize("shape", WHOLE, ids=lambda shape: shape.ours.__name__)
def test_every_field_arrives(shape: Shape[Any]) -> None:
    """A value with every attribute set becomes a message with every field set, except those never sent."""
    wire = to_wire(filled(shape.ours), shape.theirs)
    arrived = {field.name for field, _ in shape.theirs.FromString(wire.SerializeToString()).ListFields()}
    assert arrived == {field.name for field in shape.theirs.DESCRIPTOR.fields} - set(shape.unset)


def test_every_member_of_an_enum_can_be_sent() -> None:
    """Each enum of a type in the table has the names of its wire enum."""
    seen = 0
    for shape in SHAPES:
        hints = get_type_hints(shape.ours)
        for field in shape.theirs.DESCRIPTOR.fields:
            enum: Any = field.enum_type
            for kind in (hints.get(field.name), *get_args(hints.get(field.name))):
                if enum is not None and isinstance(kind, EnumType):
                    assert set(kind.__members__) <= set(number_by_name(enum)), kind
                    seen += 1
    assert seen > 20


def test_a_part_that_is_missing_is_not_set() -> None:
    """None is a field that is not set."""
    assert not to_wire(events.RunEnded(filled(events.RunEnded).state), events_pb2.RunEnded).HasField(
        "problem"
    )


def test_a_step_shows_short_outputs_and_the_size_of_long_ones() -> None:
    """An output above the limit is left out of a run, and its size is not."""
    step = StepSnapshot(PlanStep("s1", ""), StepState.SUCCEEDED, attempt=1, output="x" * MAX_OUTPUT_BYTES)
    long = to_wire(step, runs_pb2.Step)
    assert (long.output_json, long.output_bytes) == ("", MAX_OUTPUT_BYTES + 2)
    short = to_wire(replace(step, output=None, attempt=0), runs_pb2.Step)
    assert (short.output_json, short.output_bytes) == ("null", 4)
    assert (short.recovery, long.recovery) == (tools_pb2.RECOVERY_UNSPECIFIED, tools_pb2.RECOVERY_RERUN)
