"""JSON Schemas of tools and answers: closed against unknown fields, checked once, compiled for every value after it."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

import jsonschema_rs

from aeond.domain.outcome import Problem
from aeond.errors import InvalidInputError
from aeond.schemas.json_size import json_size
from aeond.schemas.parts import Schema, closed
from aeond.schemas.pointers import pointer
from aeond.schemas.work import SCHEMA_INVALID, WorkBound, invalid_schema

MAX_PROBLEMS: Final = 20
MAX_SCHEMA_BYTES: Final = 256 * 1024
MAX_WORK: Final = 4_000_000  # evaluations of parts for all values of one document: less than a second
MAX_LISTED_WORK: Final = 10_000  # up to which all problems are listed, which takes a hundred times as long
TOO_COMPLEX: Final = Problem("TOO_COMPLEX", "it has too many values for so large a schema")
_QUICK: Final = 64  # evaluations for which the number of values does not matter


class CompiledSchema:
    """Judges values by a schema, which it closes against unknown fields (`schema` is the closed one).

    Patterns run in linear time, no reference leads out of the schema, and the time for a value is in proportion to its size.
    Messages quote the values at fault only with `quoting`. Raises InvalidInputError (reason SCHEMA_INVALID) when it is no
    JSON Schema, or one that breaks these promises.
    """

    def __init__(self, schema: Schema, *, quoting: bool = False) -> None:
        try:
            json_size(schema, MAX_SCHEMA_BYTES)
            self.schema = closed(schema)
            self._evaluations = WorkBound(self.schema).evaluations()
            self._validator = jsonschema_rs.validator_for(
                self.schema,
                offline=True,
                mask=None if quoting else "it",
                pattern_options=jsonschema_rs.RegexOptions(),
            )
        except InvalidInputError as error:
            if error.reason == SCHEMA_INVALID:
                raise
            raise invalid_schema(str(Problem(error.reason, error.message, error.field))) from error
        except (jsonschema_rs.ValidationError, ValueError) as error:
            raise invalid_schema(str(error).splitlines()[0]) from error

    def problems(self, value: object) -> tuple[Problem, ...]:
        """The problems of a JSON value with their places, at most MAX_PROBLEMS; empty when it is valid. Only the first of
        a large value, and TOO_COMPLEX for one that could not be checked in a second."""
        if self.is_too_complex(value):
            return (TOO_COMPLEX,)
        errors = islice(self.errors(value), MAX_PROBLEMS)
        return tuple(
            Problem("SCHEMA_MISMATCH", error.message[:300], pointer(error.instance_path)) for error in errors
        )

    def is_too_complex(self, value: object) -> bool:
        """Whether checking the value could take longer than a second: such a value must not be checked."""
        return self._evaluations > _QUICK and _has_more_values(value, MAX_WORK // self._evaluations)

    def errors(self, value: object) -> Iterable[jsonschema_rs.ValidationError]:
        """The errors of a value that is not too complex; only the first of a large one."""
        if self._validator.is_valid(value):
            return ()
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
