"""JSON Schemas of tools: closed against unknown fields, checked once, compiled for every call after it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import jsonschema_rs

from aeond.capabilities.tools.json_size import json_size, pointer_token
from aeond.domain.outcome import Problem
from aeond.errors import InvalidInputError

MAX_PROBLEMS: Final = 20
MAX_SCHEMA_BYTES: Final = 256 * 1024

Schema = Mapping[str, Any]

_ONE_SUBSCHEMA: Final = ("items", "additionalProperties", "not", "contains", "propertyNames")
_LISTS_OF_SUBSCHEMAS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED_SUBSCHEMAS: Final = ("properties", "patternProperties", "$defs")


class CompiledSchema:
    """Judges values by a schema, which it closes against unknown fields (`schema` is the closed one).

    Patterns run in linear time and no reference leads out of the schema. Raises InvalidInputError (reason
    SCHEMA_INVALID) when it is no JSON Schema.
    """

    def __init__(self, schema: Schema) -> None:
        try:
            json_size(schema, MAX_SCHEMA_BYTES)
            self.schema = closed(schema)
            self._validator = jsonschema_rs.validator_for(
                self.schema, offline=True, mask="it", pattern_options=jsonschema_rs.RegexOptions()
            )
        except InvalidInputError as error:
            raise _invalid(str(Problem(error.reason, error.message, error.field))) from error
        except (jsonschema_rs.ValidationError, ValueError) as error:
            raise _invalid(str(error).splitlines()[0]) from error

    def problems(self, value: object) -> tuple[Problem, ...]:
        """The problems of a JSON value with their places, at most MAX_PROBLEMS; empty when it is valid."""
        if self._validator.is_valid(value):
            return ()
        found = []
        for error in self._validator.iter_errors(value):
            path = "".join(pointer_token(part) for part in error.instance_path)
            found.append(Problem("SCHEMA_MISMATCH", error.message[:300], path))
            if len(found) == MAX_PROBLEMS:
                break
        return tuple(found)


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
    return InvalidInputError(f"this is no usable JSON Schema: {why[:300]}", reason="SCHEMA_INVALID")
