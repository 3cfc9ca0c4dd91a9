"""A bound on the work that checking a value against a schema takes.

With a few references that join the parts of a schema, checking a value could take time that doubles with each part. The
library that checks values has no such bound.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from aeond.errors import InvalidInputError
from aeond.schemas.json_size import MAX_DEPTH
from aeond.schemas.parts import Schema
from aeond.schemas.pointers import referenced

MAX_EVALUATIONS: Final = 4_096  # of a schema and its parts, for a value and one value on each level below it
MAX_LINKED: Final = 1_024  # parts of a schema with references

SCHEMA_INVALID: Final = "SCHEMA_INVALID"

# Which parts are evaluated for the value itself, which for every value below it, and which for one of these each.
_FOR_ITSELF: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
)
_FOR_ALL_BELOW: Final = frozenset(
    {
        *("patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"),
        *("additionalItems", "unevaluatedItems", "contains"),
    }
)
_FOR_BOTH: Final = _FOR_ITSELF | _FOR_ALL_BELOW
_FOR_ONE_BELOW: Final = frozenset({"properties", "prefixItems", "items"})
_MAPS: Final = frozenset(  # from names to parts
    {"properties", "patternProperties", "dependentSchemas", "dependencies"}
)
_OTHER_REFERENCES: Final = ("$dynamicRef", "$recursiveRef")


class WorkBound:
    """Counts the parts of a schema that are evaluated for a value, following its references."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._parts: dict[int, Schema] = {}
        self._linked = False

    def evaluations(self) -> int:
        """How many parts at most are evaluated for a value and one value on each level below it. InvalidInputError (reason
        SCHEMA_INVALID) if references make them more than MAX_EVALUATIONS, or if one is not a pointer."""
        waiting = [self._root]
        while waiting:
            part = waiting.pop()
            if id(part) in self._parts:
                continue
            self._parts[id(part)] = part
            waiting += (
                *self._for_itself(part),
                *_parts_of(part, _FOR_ALL_BELOW),
                *_parts_of(part, _FOR_ONE_BELOW),
            )
        if not self._linked:
            return self._in_tree(self._root)
        if len(self._parts) > MAX_LINKED:
            raise invalid_schema(f"it has references, and more than {MAX_LINKED} parts")
        below = counted = dict.fromkeys(self._parts, 0)
        for _ in range(MAX_DEPTH):
            counted = {}
            for part in self._parts.values():
                self._count(part, counted, below, MAX_DEPTH)
            if counted[id(self._root)] > MAX_EVALUATIONS:
                raise invalid_schema("its references multiply: checking a value could take too long")
            if counted == below:
                break
            below = counted
        return counted[id(self._root)]

    def _in_tree(self, part: Schema) -> int:
        itself = sum(map(self._in_tree, _parts_of(part, _FOR_BOTH)))
        return 1 + itself + max(map(self._in_tree, _parts_of(part, _FOR_ONE_BELOW)), default=0)

    def _count(self, part: Schema, counted: dict[int, int], below: Mapping[int, int], deeper: int) -> int:
        """The evaluations of a part for a value and one value on each of the levels that `below` has counts for."""
        if id(part) in counted:
            return counted[id(part)]
        if deeper == 0:
            raise invalid_schema("its references lead in a circle, or through too many others")
        itself = sum(self._count(one, counted, below, deeper - 1) for one in self._for_itself(part))
        every = sum(below[id(one)] for one in _parts_of(part, _FOR_ALL_BELOW))
        single = max((below[id(one)] for one in _parts_of(part, _FOR_ONE_BELOW)), default=0)
        counted[id(part)] = min(1 + itself + every + single, MAX_EVALUATIONS + 1)
        return counted[id(part)]

    def _for_itself(self, part: Schema) -> Iterator[Schema]:
        yield from _parts_of(part, _FOR_ITSELF)
        named = part is not self._root and any(isinstance(part.get(name), str) for name in ("$id", "id"))
        if named or not part.keys().isdisjoint(_OTHER_REFERENCES):
            raise invalid_schema(
                "only references such as #/$defs/name are supported, without $id and dynamic ones"
            )
        if isinstance(reference := part.get("$ref"), str):
            self._linked = True
            if isinstance(found := self._found(reference), Mapping):
                yield found

    def _found(self, reference: str) -> Any:
        if reference.partition("/")[0] != "#":
            raise invalid_schema(f"{reference!r:.100} is not a reference such as #/$defs/name")
        try:
            return referenced(self._root, reference)
        except LookupError:
            raise invalid_schema(f"the reference {reference!r:.100} leads nowhere") from None


def _parts_of(schema: Schema, keywords: AbstractSet[str]) -> Iterator[Schema]:
    """The schemas directly below these keywords."""
    for keyword, value in schema.items():
        if keyword not in keywords:
            continue
        parts: Sequence[Any] = ()
        if isinstance(value, list | tuple):
            parts = value
        elif isinstance(value, Mapping):
            parts = tuple(value.values()) if keyword in _MAPS else (value,)
        yield from (one for one in parts if isinstance(one, Mapping))


def invalid_schema(why: str) -> InvalidInputError:
    return InvalidInputError(f"this is not a usable JSON Schema: {why[:300]}", reason=SCHEMA_INVALID)
