"""JSON Schemas of tools: closed against unknown fields, checked once, compiled for every call after it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

import jsonschema_rs

from aeond.capabilities.tools.json_size import MAX_DEPTH, json_size, pointer_token
from aeond.domain.outcome import Problem
from aeond.errors import InvalidInputError

MAX_PROBLEMS: Final = 20
MAX_SCHEMA_BYTES: Final = 256 * 1024
MAX_EVALUATIONS: Final = 4_096  # of a schema and its parts, for a value and one value on each level below it
MAX_LINKED: Final = 1_024  # parts of a schema with references
MAX_WORK: Final = 4_000_000  # evaluations of parts for all values of one document: less than a second
MAX_LISTED_WORK: Final = (
    10_000  # up to which all problems are listed; to list them takes a hundred times as long
)
_QUICK: Final = 64  # evaluations for which the number of values does not matter

SCHEMA_INVALID: Final = "SCHEMA_INVALID"

Schema = Mapping[str, Any]

_ONE_SUBSCHEMA: Final = ("items", "additionalProperties", "not", "contains", "propertyNames")
_LISTS_OF_SUBSCHEMAS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED_SUBSCHEMAS: Final = ("properties", "patternProperties", "$defs")
# Which parts are evaluated for the value itself, which for every value below it, and which for one of these each.
_FOR_ITSELF: Final = (
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
)
_FOR_ALL_BELOW: Final = (
    *("patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"),
    *("additionalItems", "unevaluatedItems", "contains"),
)
_FOR_ONE_BELOW: Final = ("properties", "prefixItems", "items")
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies")  # from names to parts
_OTHER_REFERENCES: Final = ("$dynamicRef", "$recursiveRef")


class CompiledSchema:
    """Judges values by a schema, which it closes against unknown fields (`schema` is the closed one).

    Patterns run in linear time, no reference leads out of the schema, and the time for a value is in proportion to its size.
    Raises InvalidInputError (reason SCHEMA_INVALID) when it is no JSON Schema, or one that breaks these promises.
    """

    def __init__(self, schema: Schema) -> None:
        try:
            json_size(schema, MAX_SCHEMA_BYTES)
            self.schema = closed(schema)
            self._evaluations = _References(self.schema).evaluations()
            self._validator = jsonschema_rs.validator_for(
                self.schema, offline=True, mask="it", pattern_options=jsonschema_rs.RegexOptions()
            )
        except InvalidInputError as error:
            if error.reason == SCHEMA_INVALID:
                raise
            raise _invalid(str(Problem(error.reason, error.message, error.field))) from error
        except (jsonschema_rs.ValidationError, ValueError) as error:
            raise _invalid(str(error).splitlines()[0]) from error

    def problems(self, value: object) -> tuple[Problem, ...]:
        """The problems of a JSON value with their places, at most MAX_PROBLEMS; empty when it is valid. Only the first of
        a large value, and TOO_COMPLEX for one that could not be checked in a second."""
        if self._evaluations > _QUICK and _has_more_values(value, MAX_WORK // self._evaluations):
            return (Problem("TOO_COMPLEX", "it has too many values for so large a schema", ""),)
        if self._validator.is_valid(value):
            return ()
        found = []
        for error in self._errors(value):
            path = "".join(pointer_token(part) for part in error.instance_path)
            found.append(Problem("SCHEMA_MISMATCH", error.message[:300], path))
            if len(found) == MAX_PROBLEMS:
                break
        return tuple(found)

    def _errors(self, value: object) -> Iterable[jsonschema_rs.ValidationError]:
        if not _has_more_values(value, MAX_LISTED_WORK // self._evaluations):
            return self._validator.iter_errors(value)
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return (error,)
        return ()


def _has_more_values(value: object, most: int) -> bool:
    """Whether the value and those in it are more than that many."""
    waiting = [value]
    for _ in range(most):
        if not waiting:
            return False
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one
    return bool(waiting)


class _References:
    """The parts of a schema as its references join them: with a few of these, checking a value could take time that doubles
    with each part."""

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
            raise _invalid(f"it has references, and more than {MAX_LINKED} parts")
        below = counted = dict.fromkeys(self._parts, 0)
        for _ in range(MAX_DEPTH):
            counted = {}
            for part in self._parts.values():
                self._count(part, counted, below, MAX_DEPTH)
            if counted[id(self._root)] > MAX_EVALUATIONS:
                raise _invalid("its references multiply: checking a value could take too long")
            if counted == below:
                break
            below = counted
        return counted[id(self._root)]

    def _in_tree(self, part: Schema) -> int:
        itself = sum(map(self._in_tree, _parts_of(part, (*_FOR_ITSELF, *_FOR_ALL_BELOW))))
        return 1 + itself + max(map(self._in_tree, _parts_of(part, _FOR_ONE_BELOW)), default=0)

    def _count(self, part: Schema, counted: dict[int, int], below: Mapping[int, int], deeper: int) -> int:
        """The evaluations of a part for a value and one value on each of the levels that `below` has counts for."""
        if id(part) in counted:
            return counted[id(part)]
        if deeper == 0:
            raise _invalid("its references lead in a circle, or through too many others")
        itself = sum(self._count(one, counted, below, deeper - 1) for one in self._for_itself(part))
        every = sum(below[id(one)] for one in _parts_of(part, _FOR_ALL_BELOW))
        single = max((below[id(one)] for one in _parts_of(part, _FOR_ONE_BELOW)), default=0)
        counted[id(part)] = min(1 + itself + every + single, MAX_EVALUATIONS + 1)
        return counted[id(part)]

    def _for_itself(self, part: Schema) -> Iterator[Schema]:
        yield from _parts_of(part, _FOR_ITSELF)
        named = part is not self._root and any(isinstance(part.get(name), str) for name in ("$id", "id"))
        if named or not part.keys().isdisjoint(_OTHER_REFERENCES):
            raise _invalid("only references such as #/$defs/name are supported, without $id and dynamic ones")
        if isinstance(reference := part.get("$ref"), str):
            self._linked = True
            if isinstance(found := self._found(reference), Mapping):
                yield found

    def _found(self, reference: str) -> Any:
        found: Any = self._root
        if reference.partition("/")[0] != "#":
            raise _invalid(f"{reference!r:.100} is not a reference such as #/$defs/name")
        for token in reference.split("/")[1:]:
            name = unquote(token).replace("~1", "/").replace("~0", "~")
            try:
                found = found[int(name)] if isinstance(found, list | tuple) else found[name]
            except (KeyError, IndexError, ValueError, TypeError):
                raise _invalid(f"the reference {reference!r:.100} leads nowhere") from None
        return found


def _parts_of(schema: Schema, keywords: Sequence[str]) -> Iterator[Schema]:
    """The schemas directly below these keywords."""
    for keyword in keywords:
        value = schema.get(keyword)
        parts: Sequence[Any] = ()
        if isinstance(value, list | tuple):
            parts = value
        elif isinstance(value, Mapping):
            parts = tuple(value.values()) if keyword in _MAPS else (value,)
        yield from (one for one in parts if isinstance(one, Mapping))


def arguments_invalid(tool: str, problems: Sequence[Problem]) -> InvalidInputError:
    """The error for arguments that a tool's schema or model rejects; `problems` must not be empty."""
    return InvalidInputError(
        f"the arguments of {tool} are not valid: " + "; ".join(map(str, problems)),
        reason="ARGUMENTS_INVALID",
        field=f"arguments{problems[0].path}",
    )


def with_subschemas(schema: Schema, change: Callable[[Schema], Schema]) -> dict[str, Any]:
    """A copy of a schema in which each schema directly below it has been changed."""
    changed = dict(schema)
    for keyword in _ONE_SUBSCHEMA:
        if isinstance(changed.get(keyword), Mapping):
            changed[keyword] = change(changed[keyword])
    for keyword in _LISTS_OF_SUBSCHEMAS:
        if isinstance(changed.get(keyword), Sequence):
            changed[keyword] = [
                change(part) if isinstance(part, Mapping) else part for part in changed[keyword]
            ]
    for keyword in _NAMED_SUBSCHEMAS:
        if isinstance(changed.get(keyword), Mapping):
            changed[keyword] = {
                name: change(part) if isinstance(part, Mapping) else part
                for name, part in changed[keyword].items()
            }
    return changed


def closed(schema: Schema) -> dict[str, Any]:
    """The schema with every object that names its fields closed against others, unless it says otherwise."""
    copy = with_subschemas(schema, closed)
    if "properties" in copy and "patternProperties" not in copy:
        copy.setdefault("additionalProperties", False)
    return copy


def _invalid(why: str) -> InvalidInputError:
    return InvalidInputError(f"this is no usable JSON Schema: {why[:300]}", reason=SCHEMA_INVALID)
