"""Reads wire messages into records, by the names and types of the records' fields.

A field is read from the field of its name, a JSON value `x` from `x_json`; `places` has the other sources.
Values added by a newer daemon become `unspecified`.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache, partial
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from aeond.api.v1 import events_pb2
from aeond_client import events
from aeond_client.calls import values
from aeond_client.calls.places import ALWAYS_SET, PLACES

T = TypeVar("T")

Convert = Callable[[Any], Any]

_UNKNOWN = "unspecified"


def read(record: type[T], wire: Message) -> T:
    """The message as this record."""
    kind: Any = record
    return record(**{name: value_in(wire) for name, value_in in _readers(kind, wire.DESCRIPTOR)})


def event(wire: events_pb2.Event) -> events.Event:
    return events.Event(wire.run_id, wire.seq, values.seconds(wire.time), wire.elapsed_seconds, _kind(wire))


def _kind(wire: events_pb2.Event) -> events.EventKind:
    name = wire.WhichOneof("kind")
    if name is None:
        return events.UnknownKind()
    message = getattr(wire, name)
    record = getattr(events, message.DESCRIPTOR.name, None)
    return read(record, message) if record else events.UnknownKind(name)


@cache
def _readers(record: type[Any], message: Descriptor) -> tuple[tuple[str, Convert], ...]:
    """Each field of the record with the function that reads it from the message."""
    places = PLACES.get(record, {})
    return tuple(
        (field.name, place if callable(place) else _reader(message, place, field.type))
        for field in fields(record)
        for place in (places.get(field.name, field.name),)
    )


def _reader(message: Descriptor, place: str, kind: Any) -> Convert:
    """Reads a value of this type from a place, such as `name` or `part.name`."""
    first, _, rest = place.partition(".")
    if rest:
        part = message.fields_by_name[first].message_type
        assert part is not None, f"{message.name}.{first} is not a message"
        inner = _reader(part, rest, kind)
        return lambda wire: inner(getattr(wire, first))
    name = first if first in message.fields_by_name else f"{first}_json"
    convert = _converter(message.fields_by_name[name], kind)
    if NoneType in get_args(kind):
        return lambda wire: convert(getattr(wire, name)) if wire.HasField(name) else None
    return lambda wire: convert(getattr(wire, name))


def _converter(field: FieldDescriptor, kind: Any) -> Convert:
    """Converts a value of this field to this type."""
    container, parts = get_origin(kind), get_args(kind)
    if NoneType in parts:
        return _converter(field, parts[0])
    if container is tuple:
        item = _converter(field, parts[0])
        return lambda items: tuple(map(item, items))
    if isinstance(kind, type) and is_dataclass(kind):
        return partial(read, kind)
    if field.enum_type is not None:
        return _word_reader(field.enum_type, kind)
    if field.name.endswith("_json"):
        return values.json_object if container is dict else values.value
    if container is dict:
        return dict
    return values.seconds if field.message_type is not None else _same


def _word_reader(enum: EnumDescriptor, kind: Any) -> Convert:
    """Converts the number of an enum's value to its word: RUN_STATE_SUCCEEDED is `succeeded`.

    An unset value and one that this client does not know are `unspecified`, or "" where the value is optional.
    """
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    words = {value.number: value.name.removeprefix(prefix).lower() for value in enum.values}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return lambda number: kind(words.get(number, _UNKNOWN))
    if enum.name in ALWAYS_SET:
        return lambda number: words.get(number, _UNKNOWN)
    words[0] = ""
    return lambda number: words.get(number, "")


def _same(value: Any) -> Any:
    return value
