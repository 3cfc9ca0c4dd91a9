"""Builds protobuf messages from domain values, and domain values from requests, by the names of their fields.

A field of a message and the attribute of the same name belong together; a field `output_json` belongs to
`output`, as JSON text. Shapes and forms state only what differs, and are checked for completeness on import.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Generic, TypeVar, get_type_hints

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from aeond.server.wire.checks import at_most
from aeond.server.wire.enums import number_by_name
from aeond.server.wire.json_text import json_text, plain_text
from aeond.server.wire.times import timestamp

Ours = TypeVar("Ours")
Wire = TypeVar("Wire", bound=Message)

Convert = Callable[[Any], Any]
Check = Callable[[Any, str], Any]
"""Takes the value of a field and its path in the request; returns the domain's value or raises InvalidInputError."""

_JSON = "_json"


class Shape(Generic[Ours]):
    """A domain type and its message.

    A field that the type lacks is read from one of the parts named by `inside`, such as `child.request`.
    `sources` compute the other fields: a message, a domain value, a list of them, or None for a field that is
    not set. `unset` fields are never sent. TypeError if a field of the message has no source.
    """

    def __init__(
        self,
        ours: type[Ours],
        theirs: type[Message],
        /,
        *,
        inside: Collection[str] = (),
        unset: Collection[str] = (),
        **sources: Callable[[Ours], object],
    ) -> None:
        self.ours = ours
        self.theirs = theirs
        self.unset = unset
        owners = [("", ours), *((f"{path}.", _type_at(ours, path)) for path in inside)]
        self.fields: list[tuple[Any, Convert, bool]] = []
        for field in theirs.DESCRIPTOR.fields:
            if field.name in unset:
                continue
            source = sources.pop(field.name, None)
            found: Convert = source or attrgetter(_path_of(field.name, owners, theirs))
            self.fields.append((field, found, source is None))
        if sources:
            raise TypeError(f"{theirs.__name__} has no field {', '.join(sources)}")


class Encoder:
    """Converts values of domain types to messages by a table of shapes, one for each type."""

    def __init__(self, shapes: Iterable[Shape[Any]]) -> None:
        self.shapes = {shape.ours: shape for shape in shapes}
        self._writers = {ours: self._writer(shape) for ours, shape in self.shapes.items()}

    def encode(self, value: object, message: type[Wire]) -> Wire:
        """The value as this message. KeyError for a type without a shape."""
        made = self._writers[type(value)](value)
        assert isinstance(made, message), f"{type(value).__name__} is not sent as {message.__name__}"
        return made

    def _writer(self, shape: Shape[Any]) -> Callable[[Any], Message]:
        parts = tuple(
            (field.name, source, self._converter(field, by_name)) for field, source, by_name in shape.fields
        )
        message: Any = shape.theirs

        def write(value: Any) -> Message:
            sent = {}
            for name, source, convert in parts:
                found = source(value)
                if found is not None or convert is json_text:
                    sent[name] = found if convert is None else convert(found)
            made: Message = message(**sent)
            return made

        return write

    def _converter(self, field: FieldDescriptor, by_name: bool) -> Convert | None:
        """The conversion of a value of this field; None if it is sent as it is."""
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            return None
        convert = self._item_converter(field, by_name)
        if convert is None or not field.is_repeated:
            return convert
        return lambda items: [convert(item) for item in items]

    def _item_converter(self, field: FieldDescriptor, by_name: bool) -> Convert | None:
        if field.enum_type is not None:
            numbers = number_by_name(field.enum_type)
            return lambda member: numbers[member.name]
        if field.message_type is not None:
            return timestamp if field.message_type.name == "Timestamp" else self._message
        if field.type == FieldDescriptor.TYPE_STRING:
            return json_text if by_name and field.name.endswith(_JSON) else plain_text
        return None

    def _message(self, value: object) -> Message:
        return value if isinstance(value, Message) else self._writers[type(value)](value)


class Form(Generic[Ours]):
    """A message of a request and its domain type: a check for each field.

    `renamed` maps fields to attributes with another name; `ignored` fields are not read, or read by the
    caller. TypeError if a field of the message has no check.
    """

    def __init__(
        self,
        ours: type[Ours],
        theirs: type[Message],
        /,
        *,
        ignored: Collection[str] = (),
        renamed: dict[str, str] | None = None,
        **checks: Check,
    ) -> None:
        self.theirs = theirs
        names = {field.name for field in theirs.DESCRIPTOR.fields}
        if names != {*checks, *ignored}:
            raise TypeError(f"{theirs.__name__}: {sorted(names ^ {*checks, *ignored})}")
        self._ours = ours
        self._checks = [
            (
                name,
                check,
                (renamed or {}).get(name) or name.removesuffix(_JSON),
                theirs.DESCRIPTOR.fields_by_name[name].has_presence,
            )
            for name, check in checks.items()
        ]

    def read(self, message: Message, path: str = "", **others: Any) -> Ours:
        """The domain value; a field with presence that is not set keeps its default. `others` are attributes
        that come from elsewhere. InvalidInputError names the field at fault.
        """
        prefix = f"{path}." if path else ""
        for name, check, attribute, optional in self._checks:
            if not optional or message.HasField(name):
                others[attribute] = check(getattr(message, name), f"{prefix}{name}")
        return self._ours(**others)


def each(check: Callable[[Any, str], Ours], most: int) -> Callable[[Sequence[Any], str], tuple[Ours, ...]]:
    """A check of a repeated field with at most so many items, from the check of one."""

    def checked(items: Sequence[Any], path: str) -> tuple[Ours, ...]:
        at_most(items, path, most)
        return tuple(check(item, f"{path}[{index}]") for index, item in enumerate(items))

    return checked


def _path_of(name: str, owners: list[tuple[str, Any]], theirs: type[Message]) -> str:
    """Where the value of a field is: the dotted path of an attribute."""
    attribute = name.removesuffix(_JSON)
    for prefix, owner in owners:
        if attribute in _attributes(owner):
            return f"{prefix}{attribute}"
    raise TypeError(f"{theirs.__name__}.{name} has no attribute in {owners[0][1].__name__}")


def _type_at(owner: Any, path: str) -> Any:
    for name in path.split("."):
        owner = get_type_hints(owner)[name]
    return owner


def _attributes(owner: Any) -> Iterator[str]:
    yield from (field.name for field in fields(owner))
    yield from (name for name, value in vars(owner).items() if isinstance(value, property))
