"""Checks values against schemas that are compiled on first use, with a reason for each kind of problem."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import jsonschema_rs

from aeond.domain.outcome import Problem
from aeond.domain.values import JsonObject, JsonValue, canonical_json
from aeond.errors import InvalidInputError
from aeond.schemas.compiled import TOO_COMPLEX, CompiledSchema
from aeond.schemas.pointers import pointer, pointer_token

MAX_SCHEMAS: Final = 256  # compiled ones that are kept
MAX_ERRORS: Final = 50
MAX_MESSAGE_CHARS: Final = 300

# Keywords that apply to a value as a whole: the cause may be a value anywhere inside it.
_WHOLE: Final = frozenset(
    {"anyOf", "oneOf", "oneOfMultipleValid", "oneOfNotValid", "not", "contains", "enum"}
)

K = TypeVar("K")
V = TypeVar("V")


class SchemaChecker:
    """Checks values; compiles each schema once and keeps a bounded number."""

    def __init__(self) -> None:
        self._compiled: dict[str, CompiledSchema] = {}
        # The same, by which object it is, kept alive so that no other can take its place: tools hand in
        # the same schema for every call, and writing it out costs more than checking.
        self._known: dict[int, tuple[JsonObject, CompiledSchema]] = {}

    def check(
        self,
        value: JsonValue,
        schema: JsonObject,
        word: str,
        *,
        is_pending: Callable[[JsonValue], bool] | None = None,
    ) -> tuple[Problem, ...]:
        """Problems with reasons `<word>_MISSING`, `_UNKNOWN` and `_INVALID`; empty means valid.

        A text of which `is_pending` is true satisfies any schema: it stands for a value that comes later.
        The value must be JSON.
        """
        try:
            compiled = self._compile(schema)
        except (InvalidInputError, ValueError) as refused:
            return (Problem("SCHEMA_UNUSABLE", f"the schema cannot be used: {_shortened(str(refused))}"),)
        if compiled.is_too_complex(value):
            return (Problem(f"{word}_INVALID", TOO_COMPLEX.message),)
        problems: list[Problem] = []
        for error in compiled.errors(value):
            if is_pending is not None:
                at = _at(value, error.instance_path)
                if (isinstance(at, str) or error.kind.name in _WHOLE) and is_pending(at):
                    continue
            problems.extend(_problems(error, word))
            if len(problems) >= MAX_ERRORS:
                break
        return tuple(problems)

    def _compile(self, schema: JsonObject) -> CompiledSchema:
        known = self._known.get(id(schema))
        if known is not None:
            return known[1]
        key = canonical_json(schema)
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = CompiledSchema(schema, quoting=True)
            _keep(self._compiled, key, compiled)
        _keep(self._known, id(schema), (schema, compiled))
        return compiled


def _keep(kept: dict[K, V], key: K, value: V) -> None:
    """Puts it into a bounded store; the oldest makes room."""
    if len(kept) >= MAX_SCHEMAS:
        kept.pop(next(iter(kept)))
    kept[key] = value


def _problems(error: jsonschema_rs.ValidationError, word: str) -> Iterator[Problem]:
    kind, path = error.kind, pointer(error.instance_path)
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required):
        name = str(kind.property)
        yield Problem(f"{word}_MISSING", f"'{name}' is required", path + pointer_token(name))
    elif isinstance(kind, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        for name in kind.unexpected:
            yield Problem(f"{word}_UNKNOWN", f"there is no '{name:.80}' here", path + pointer_token(name))
    else:
        yield Problem(f"{word}_INVALID", _shortened(error.message), path)


def _at(value: JsonValue, path: Sequence[str | int]) -> JsonValue:
    for part in path:
        if isinstance(value, Mapping):
            value = value[str(part)]
        elif isinstance(value, Sequence) and isinstance(part, int):
            value = value[part]
    return value


def _shortened(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE_CHARS else f"{message[:MAX_MESSAGE_CHARS]} ..."
