"""Values against JSON schemas, with every problem at its place."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeVar

import jsonschema_rs

from aeond.domain.outcome import Problem
from aeond.domain.values import JsonObject, JsonValue, canonical_json
from aeond.orchestration.planning.step_references import references_in_value
from aeond.orchestration.repair.strict_json import pointer_token

MAX_SCHEMAS: Final = 256  # compiled ones that are kept
MAX_ERRORS: Final = 50
MAX_MESSAGE_CHARS: Final = 300

# Keywords that judge a value as a whole: a reference anywhere inside may be what they stumble over.
_WHOLE: Final = frozenset(
    {"anyOf", "oneOf", "oneOfMultipleValid", "oneOfNotValid", "not", "contains", "enum"}
)


K = TypeVar("K")
V = TypeVar("V")


class _Compiled(Protocol):
    def is_valid(self, instance: object) -> bool: ...

    def iter_errors(self, instance: object) -> Iterator[jsonschema_rs.ValidationError]: ...


class SchemaChecker:
    """Checks values; compiles each schema once and keeps a bounded number."""

    def __init__(self) -> None:
        self._compiled: dict[str, _Compiled] = {}
        # The same, by which object it is, kept alive so that no other can take its place: tools hand in
        # the same schema for every call, and writing it out costs more than checking.
        self._known: dict[int, tuple[JsonObject, _Compiled]] = {}

    def check(
        self, value: JsonValue, schema: JsonObject, word: str, *, references_to: Collection[str] | None = None
    ) -> tuple[Problem, ...]:
        """Problems with reasons `<word>_MISSING`, `_UNKNOWN` and `_INVALID`; empty means valid.

        With `references_to`, text that refers to one of these steps, or to a numbered one, satisfies any
        schema: its value comes later.
        The value must be JSON as `check_value` understands it.
        """
        try:
            compiled = self._compile(schema)
        except ValueError as refused:
            return (Problem("SCHEMA_UNUSABLE", f"the schema cannot be used: {_shortened(str(refused))}"),)
        if compiled.is_valid(value):
            return ()
        problems: list[Problem] = []
        for error in compiled.iter_errors(value):
            at = _at(value, error.instance_path)
            if references_to is not None and _awaits(at, error.kind.name, references_to):
                continue
            path = "".join(f"/{pointer_token(str(part))}" for part in error.instance_path)
            problems.extend(_problems(error, path, word))
            if len(problems) >= MAX_ERRORS:
                break
        return tuple(problems)

    def _compile(self, schema: JsonObject) -> _Compiled:
        known = self._known.get(id(schema))
        if known is not None:
            return known[1]
        key = canonical_json(schema)
        compiled = self._compiled.get(key)
        if compiled is None:
            # Offline: a schema that points to another host's is refused, not fetched.
            compiled = jsonschema_rs.Draft202012Validator(dict(schema), offline=True)
            _keep(self._compiled, key, compiled)
        _keep(self._known, id(schema), (schema, compiled))
        return compiled


def _keep(kept: dict[K, V], key: K, value: V) -> None:
    """Puts it into a bounded store; the oldest makes room."""
    if len(kept) >= MAX_SCHEMAS:
        kept.pop(next(iter(kept)))
    kept[key] = value


def _problems(error: jsonschema_rs.ValidationError, path: str, word: str) -> Iterator[Problem]:
    kind = error.kind
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required):
        name = str(kind.property)
        yield Problem(f"{word}_MISSING", f"'{name}' is required", f"{path}/{pointer_token(name)}")
    elif isinstance(kind, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        for name in kind.unexpected:
            yield Problem(
                f"{word}_UNKNOWN", f"there is no '{name:.80}' here", f"{path}/{pointer_token(name)}"
            )
    else:
        yield Problem(f"{word}_INVALID", _shortened(error.message), path)


def _at(value: JsonValue, path: Sequence[str | int]) -> JsonValue:
    for part in path:
        if isinstance(value, Mapping):
            value = value[str(part)]
        elif isinstance(value, Sequence) and isinstance(part, int):
            value = value[part]
    return value


def _awaits(value: JsonValue, keyword: str, step_ids: Collection[str]) -> bool:
    """Whether an error at this value may go away once the references in it are replaced."""
    if isinstance(value, str) or keyword in _WHOLE:
        return any(True for _ in references_in_value(value, step_ids))
    return False


def _shortened(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE_CHARS else f"{message[:MAX_MESSAGE_CHARS]} ..."
