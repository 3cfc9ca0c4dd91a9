"""The parts of a JSON Schema: walking them, closing them, and finding the one that applies to a place of a value."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeGuard

from aeond.domain.values import JsonObject, JsonValue
from aeond.schemas.pointers import referenced

Schema = Mapping[str, Any]

_MAX_REFERENCES: Final = 8
_ONE_SUBSCHEMA: Final = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames"})
_LISTS_OF_SUBSCHEMAS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED_SUBSCHEMAS: Final = frozenset({"properties", "patternProperties", "$defs"})


def is_list(value: JsonValue) -> TypeGuard[Sequence[JsonValue]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def as_object(value: JsonValue) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def required_of(schema: JsonObject) -> Sequence[str]:
    """The names of the fields that an object must have."""
    required = schema.get("required")
    return [str(name) for name in required] if is_list(required) else []


def resolve(schema: JsonObject, root: JsonObject) -> JsonObject:
    """Follows `#/...` references; one that leads nowhere, or in a circle, admits anything."""
    for _ in range(_MAX_REFERENCES):
        target = schema.get("$ref")
        if not isinstance(target, str):
            return schema
        try:
            schema = as_object(referenced(root, target))
        except LookupError:
            return {}
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


def with_subschemas(schema: Schema, change: Callable[[Schema], Schema]) -> dict[str, Any]:
    """A copy of a schema in which each schema directly below it has been changed."""
    changed = dict(schema)
    for keyword, value in schema.items():
        if keyword in _ONE_SUBSCHEMA and isinstance(value, Mapping):
            changed[keyword] = change(value)
        elif keyword in _LISTS_OF_SUBSCHEMAS and isinstance(value, Sequence):
            changed[keyword] = [change(part) if isinstance(part, Mapping) else part for part in value]
        elif keyword in _NAMED_SUBSCHEMAS and isinstance(value, Mapping):
            changed[keyword] = {
                name: change(part) if isinstance(part, Mapping) else part for name, part in value.items()
            }
    return changed


def closed(schema: Schema) -> dict[str, Any]:
    """The schema with every object that names its fields closed against others, unless it says otherwise."""
    copy = with_subschemas(schema, closed)
    if "properties" in copy and "patternProperties" not in copy:
        copy.setdefault("additionalProperties", False)
    return copy


def closed_object(properties: JsonObject) -> JsonObject:
    """An object with all of these properties, in this order, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
