"""Reduces a JSON Schema to the core that engines enforce, so that nothing is ignored silently.

The engine answers a schema that it cannot compile with unconstrained text and no error. Therefore every
keyword is on one of three lists: kept, left out (it only narrows what the rest allows, and the Validator
behind the engine checks it), or refused. Keywords that describe and do not constrain are left out too.
"""

import re
import warnings
from collections.abc import Mapping
from typing import Any

from aeond.domain.values import JsonObject
from aeond.errors import InvalidInputError

MAX_DEPTH = 32
MAX_NODES = 20_000

TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
AS_THEY_ARE = frozenset({"enum", "const", "minLength", "maxLength", "minItems", "maxItems", "required"})
INTEGER_RANGES = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
ONLY_NARROW = frozenset({
    "uniqueItems", "multipleOf", "not", "if", "then", "else", "propertyNames", "minProperties",
    "maxProperties", "contains", "minContains", "maxContains", "dependentRequired", "dependentSchemas",
    "unevaluatedProperties", "unevaluatedItems", "patternProperties", "format",
})  # fmt: skip
DESCRIBE = frozenset({
    "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
    "$schema", "$id", "$comment", "contentMediaType", "contentEncoding", "discriminator",
})  # fmt: skip

# Lookaround, back references and possessive or lazy tricks that the engine's regular expressions lack.
BEYOND_REGULAR = re.compile(r"\(\?(?!:)|\\[1-9bBAZzpPk]|[*+?}][+]")


def compile_schema(schema: JsonObject) -> dict[str, Any]:
    """The schema in the engine's core; objects that name properties allow no others.

    Raises InvalidInputError (reason SCHEMA_UNSUPPORTED, with the place as a JSON pointer) for what the
    core cannot say: references outside the schema, `allOf` of several, tuples, patterns beyond regular
    expressions, unknown keywords, depth over 32.
    """
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(dict(schema))
        return _Compiler(schema).root()
    except (jsonschema_rs.ValidationError, ValueError) as error:
        raise refused("", f"is malformed ({str(error).splitlines()[0]})") from error


def response_format(schema: JsonObject) -> dict[str, Any]:
    """A schema as the inventor's interface names it; enforced to the letter where the schema allows that."""
    compiled = compile_schema(schema)
    named = {"name": "answer", "schema": compiled, "strict": is_strict(compiled)}
    return {"type": "json_schema", "json_schema": named}


def is_strict(schema: Any) -> bool:
    """Whether every object in the schema requires all that it names and allows nothing else, and the answer is an
    object: what servers ask of a schema that they enforce to the letter."""
    return isinstance(schema, Mapping) and schema.get("type") == "object" and _all_required(schema)


def _all_required(node: Any) -> bool:
    if isinstance(node, Mapping):
        if node.get("type") == "object" and (
            set(node.get("required", ())) != set(node.get("properties", {}))
            or node.get("additionalProperties") is not False
        ):
            return False
        return all(_all_required(part) for key, part in node.items() if key not in ("const", "enum"))
    return all(map(_all_required, node)) if isinstance(node, list) else True


class _Compiler:
    """One compilation of a schema that is well-formed."""

    def __init__(self, schema: JsonObject) -> None:
        self._schema = schema
        self._nodes = 0

    def root(self) -> dict[str, Any]:
        definitions: dict[str, dict[str, Any]] = {}
        for group in ("$defs", "definitions"):
            found = self._schema.get(group)
            if isinstance(found, Mapping):
                definitions[group] = {
                    str(name): self._node(part, f"/{group}/{name}", 1) for name, part in found.items()
                }
        return {**self._node(self._schema, "", 0), **definitions}

    def _node(self, node: Any, path: str, depth: int) -> dict[str, Any]:
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise refused(path, f"is too deep or too large (limits: depth {MAX_DEPTH}, {MAX_NODES} parts)")
        if node is True:
            return {}
        if not isinstance(node, Mapping):
            raise refused(path, "allows no value, or is not a schema")
        kept: dict[str, Any] = {}
        for keyword, value in node.items():
            place = f"{path}/{keyword}"
            if keyword in AS_THEY_ARE:
                kept[keyword] = value
            elif keyword == "type":
                kept[keyword] = self._type(value, place)
            elif keyword in INTEGER_RANGES:
                if node.get("type") == "integer":
                    kept[keyword] = value
            elif keyword in ("anyOf", "oneOf"):
                kept["anyOf"] = [self._node(part, f"{place}/{n}", depth + 1) for n, part in enumerate(value)]
            elif keyword == "properties":
                kept[keyword] = {
                    name: self._node(part, f"{place}/{name}", depth + 1) for name, part in value.items()
                }
            elif keyword in ("items", "additionalProperties"):
                kept[keyword] = False if value is False else self._node(value, place, depth + 1)
            elif keyword == "$ref":
                kept[keyword] = self._reference(value, place)
            elif keyword == "pattern":
                kept[keyword] = self._pattern(value, place)
            elif keyword == "allOf" and len(value) == 1:
                kept.update(self._node(value[0], f"{place}/0", depth + 1))
            elif keyword not in ONLY_NARROW | DESCRIBE and keyword not in ("$defs", "definitions"):
                raise refused(place, "is a keyword that the engine cannot enforce")
        if "properties" in kept:
            kept.setdefault("additionalProperties", False)
        self._check_possible(kept, path)
        return kept

    def _check_possible(self, kept: Mapping[str, Any], path: str) -> None:
        """The engine answers a schema that nothing satisfies with unconstrained text, too."""
        for least, most in (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum")):
            if least in kept and most in kept and kept[least] > kept[most]:
                raise refused(path, f"allows nothing: {least} is above {most}")
        if kept.get("enum") == []:
            raise refused(f"{path}/enum", "allows nothing")
        unknown = set(kept.get("required", ())) - set(kept.get("properties", ()))
        if unknown and kept.get("additionalProperties") is False:
            raise refused(f"{path}/required", f"names {min(unknown)!r}, which is not one of its properties")

    def _type(self, value: Any, place: str) -> Any:
        names = value if isinstance(value, list) else [value]
        if not names or any(name not in TYPES for name in names):
            raise refused(place, f"{value!r} is not a JSON type")
        return value

    def _reference(self, value: Any, place: str) -> str:
        target: Any = self._schema
        for part in str(value).removeprefix("#").strip("/").split("/"):
            target = target.get(part) if isinstance(target, Mapping) else None
        if not str(value).startswith(("#/$defs/", "#/definitions/")) or target is None:
            raise refused(place, f"{value!r} is not defined in this schema")
        return str(value)

    def _pattern(self, value: Any, place: str) -> str:
        try:
            with warnings.catch_warnings(action="error"):  # about what other dialects read differently
                re.compile(value)
        except (re.error, TypeError, FutureWarning) as error:
            raise refused(place, f"{value!r} is not a regular expression") from error
        if BEYOND_REGULAR.search(value):
            raise refused(
                place, f"{value!r} uses lookaround or back references, which the engine does not support"
            )
        return str(value)


def refused(path: str, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"The schema cannot be enforced: {path or '/'} {why}. Simplify the schema.",
        reason="SCHEMA_UNSUPPORTED",
        field="schema",
    )
