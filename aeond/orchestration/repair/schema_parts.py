"""Finding the part of a JSON schema that speaks about one place of a value."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeGuard

from aeond.domain.values import JsonObject, JsonValue

_MAX_REFERENCES: Final = 8


def is_list(value: JsonValue) -> TypeGuard[Sequence[JsonValue]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def as_object(value: JsonValue) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def resolve(schema: JsonObject, root: JsonObject) -> JsonObject:
    """Follows `#/...` references; one that leads nowhere, or in a circle, admits anything."""
    for _ in range(_MAX_REFERENCES):
        target = schema.get("$ref")
        if not isinstance(target, str):
            return schema
        found: JsonValue = root
        for token in target.removeprefix("#").split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        schema = as_object(found)
    return {}


def part_at(root: JsonObject, path: Sequence[str | int]) -> JsonObject:
    """The schema of the value at that place, usable by itself; `{}` (anything) where it is unknown."""
    schema = resolve(root, root)
    for part in path:
        if isinstance(part, int):
            schema = as_object(schema.get("items"))
        else:
            schema = as_object(as_object(schema.get("properties")).get(part))
        schema = resolve(schema, root)
    definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}
    return {**schema, **definitions}
