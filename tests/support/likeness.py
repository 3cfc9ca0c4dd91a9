"""Domain data filled to the brim, and whether a wire message says the same."""

import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import count
from typing import Any, get_args, get_origin, get_type_hints

from google.protobuf.message import Message

from aeond.domain.values import JsonValue

JSON_SAMPLE = {"exact": 2**70, "text": "größe \n", "list": [1.5, None, True]}


def filled(kind: Any, numbers: "count[int] | None" = None) -> Any:
    """A value of this type in which every field differs from its default and from every other field."""
    numbers = count(3) if numbers is None else numbers
    if kind is JsonValue:
        return JSON_SAMPLE
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(**{field.name: filled(hints[field.name], numbers) for field in fields(kind)})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)[-1]
    if isinstance(kind, types.UnionType):
        return filled(next(option for option in get_args(kind) if option is not types.NoneType), numbers)
    if get_origin(kind) is tuple:
        return filled(get_args(kind)[0], numbers), filled(get_args(kind)[0], numbers)
    if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Mapping):
        item = get_args(kind)[1]
        return (
            JSON_SAMPLE if item is JsonValue else {"one": filled(item, numbers), "two": filled(item, numbers)}
        )
    scalars = {str: f"wörd {next(numbers)}", int: next(numbers), float: next(numbers) + 0.25, bool: True}
    return scalars[kind]


def differences(ours: Any, theirs: Message, skip: frozenset[str] = frozenset(), path: str = "") -> list[str]:
    """Each field of ours that is missing or differs in the message; `skip` holds names compared elsewhere."""
    found = []
    for field in fields(ours):
        if field.name in skip:
            continue
        place, value = f"{path}.{field.name}", getattr(ours, field.name)
        if field.name in theirs.DESCRIPTOR.fields_by_name:
            found += _compare(value, theirs, field.name, skip, place)
        elif f"{field.name}_json" in theirs.DESCRIPTOR.fields_by_name:
            if json.loads(getattr(theirs, f"{field.name}_json")) != value:
                found.append(f"{place}: other JSON")
        elif is_dataclass(value):  # its fields are compared as a whole
            found += differences(value, theirs, skip, place)
        else:
            found.append(f"{place}: not in {theirs.DESCRIPTOR.name}")
    return found


def _compare(value: Any, theirs: Message, name: str, skip: frozenset[str], place: str) -> list[str]:
    got, descriptor = getattr(theirs, name), theirs.DESCRIPTOR.fields_by_name[name]
    if is_dataclass(value):
        return differences(value, got, skip, place)
    if isinstance(value, tuple) and value and is_dataclass(value[0]):
        if len(got) != len(value):
            return [f"{place}: {len(got)} entries, not {len(value)}"]
        return [
            d
            for i, (v, g) in enumerate(zip(value, got, strict=True))
            for d in differences(v, g, skip, f"{place}[{i}]")
        ]
    if isinstance(value, Enum):
        assert descriptor.enum_type is not None
        shown = descriptor.enum_type.values_by_number[got].name
        same = shown.endswith(f"_{value.name}")
    elif isinstance(value, Mapping):
        same = dict(got) == dict(value)
    elif isinstance(value, tuple):
        same = tuple(got) == value
    elif descriptor.message_type is not None:  # a time
        same = got.seconds + got.nanos / 1e9 == value
    else:
        same = got == value
    return [] if same else [f"{place}: {got!r}, not {value!r}"]
