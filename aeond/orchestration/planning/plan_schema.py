"""The JSON schema that a model writes plans under, compiled from the tools that there are.

A step is a union over tools, each tied to its own arguments, so that a schema-capable adapter cannot
emit an unknown tool or argument. It uses only keywords that every engine's grammar compiler honours (type,
enum, const, anyOf, bounded strings and arrays, integer ranges, required with no other properties); the
Validator checks the rest afterwards. Every text and array has a bound, so that a plan has a
largest size. Wherever a tool wants something that is not text, a reference to an earlier step will do.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from aeond.domain.plans.plan import LLM_AGENT
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, JsonValue, canonical_json
from aeond.schemas.parts import as_object, closed_object, is_list, required_of, resolve

MAX_MODEL_STEPS: Final = 8
MAX_STRING_CHARS: Final = 1000
MAX_TASK_CHARS: Final = 300
MAX_ARRAY_ITEMS: Final = 16

_MAX_SCHEMA_DEPTH: Final = 6  # of nested arguments; deeper ones are offered as a reference only
_NUMBER_CHARS: Final = 40
_JSON_BYTES_PER_CHAR: Final = 6  # \u00e9: the longest way to write one character

REFERENCE: Final[JsonObject] = {
    "type": "string",
    "pattern": f"^\\$s[1-{MAX_MODEL_STEPS}](\\.[a-z_]{{1,24}}|\\[[0-9]{{1,3}}\\]){{0,3}}$",
}
_SCALARS: Final = ("string", "number", "boolean", "null")
_ANY_SCALAR: Final[Sequence[JsonObject]] = (
    {"type": "string", "maxLength": MAX_STRING_CHARS},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "null"},
)
# Any JSON, as far as a model should write it by hand: a scalar or a short list of scalars.
_ANYTHING: Final[JsonObject] = {
    "anyOf": [
        *_ANY_SCALAR,
        {"type": "array", "items": {"anyOf": [*_ANY_SCALAR]}, "minItems": 0, "maxItems": MAX_ARRAY_ITEMS},
    ]
}


def compile_plan_schema(specs: Sequence[ToolSpec]) -> JsonObject:
    """The schema of `{"steps": [...]}` for these tools and the built-in agent."""
    items = compile_step(specs)
    steps: JsonObject = {"type": "array", "minItems": 1, "maxItems": MAX_MODEL_STEPS, "items": items}
    return closed_object({"steps": steps})


def compile_step(specs: Sequence[ToolSpec]) -> JsonObject:
    """One step: a call of one of these tools, or a task for the built-in agent."""
    task: JsonObject = {"type": "string", "minLength": 1, "maxLength": MAX_TASK_CHARS}
    steps = [closed_object({"tool": {"const": s.name}, "arguments": compile_arguments(s)}) for s in specs]
    steps.append({**closed_object({"agent": {"const": LLM_AGENT}, "task": task}), "required": ["agent"]})
    return {"anyOf": [*steps]}


def compile_arguments(spec: ToolSpec) -> JsonObject:
    """A tool's arguments in the common core of all engines."""
    return _Compiler(spec.input_schema).compile_object(spec.input_schema, 0)


def compile_tool_calls(specs: Sequence[ToolSpec]) -> JsonObject:
    """One call of one of these tools, or `{"tool": null}` for none of them."""
    calls = [closed_object({"tool": {"const": s.name}, "arguments": compile_arguments(s)}) for s in specs]
    return {"anyOf": [*calls, closed_object({"tool": {"type": "null"}})]}


def largest_bytes(schema: JsonObject) -> int:
    """How many bytes the largest compact JSON text has that a compiled schema admits."""
    alternatives = schema.get("anyOf")
    if is_list(alternatives):
        return max(largest_bytes(as_object(item)) for item in alternatives)
    if "const" in schema:
        return len(canonical_json(schema["const"]).encode())
    choices = schema.get("enum")
    if is_list(choices):
        return max(len(canonical_json(item).encode()) for item in choices)
    if schema.get("type") == "object":
        properties = as_object(schema.get("properties"))
        return 2 + sum(
            len(canonical_json(key).encode()) + 2 + largest_bytes(as_object(part))
            for key, part in properties.items()
        )
    if schema.get("type") == "array":
        return 2 + _int(schema["maxItems"]) * (1 + largest_bytes(as_object(schema["items"])))
    if schema.get("type") == "string":
        if "pattern" in schema:
            return 2 + len("$s1") + 3 * 25
        return 2 + _int(schema["maxLength"]) * _JSON_BYTES_PER_CHAR
    return _NUMBER_CHARS


class _Compiler:
    """Rewrites one tool's schema; `root` is where its `$ref`s point."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root

    def compile_object(self, schema: JsonObject, depth: int) -> JsonObject:
        schema = resolve(schema, self._root)
        properties = {
            name: self.compile_value(as_object(part), depth + 1)
            for name, part in as_object(schema.get("properties")).items()
        }
        return {
            "type": "object",
            "properties": properties,
            "required": [name for name in required_of(schema) if name in properties],
            "additionalProperties": False,
        }

    def compile_value(self, schema: JsonObject, depth: int) -> JsonObject:
        """A value, or a reference to one where the value is not text anyway."""
        compiled = self._compile(resolve(schema, self._root), depth)
        if any(
            part.get("type") == "string" or "const" in part or "enum" in part for part in _parts(compiled)
        ):
            return compiled
        return {"anyOf": [*_parts(compiled), REFERENCE]}

    def _compile(self, schema: JsonObject, depth: int) -> JsonObject:
        if depth > _MAX_SCHEMA_DEPTH:
            return REFERENCE
        if "const" in schema:
            return {"const": schema["const"]}
        if is_list(schema.get("enum")):
            return {"enum": schema["enum"]}
        for keyword in ("anyOf", "oneOf"):
            alternatives = schema.get(keyword)
            if is_list(alternatives):
                return self._any_of((resolve(as_object(item), self._root) for item in alternatives), depth)
        kind = schema.get("type")
        if is_list(kind):
            return self._any_of(({**schema, "type": item} for item in kind), depth)
        if kind == "object" and as_object(schema.get("properties")):
            return self.compile_object(schema, depth)
        if kind == "object":
            return REFERENCE  # free-form: no schema states its shape, so it must come from a step's output
        if kind == "array":
            return self._array(schema, depth)
        if kind == "string":
            bound = schema.get("maxLength")
            limit = min(bound, MAX_STRING_CHARS) if isinstance(bound, int) else MAX_STRING_CHARS
            least = schema.get("minLength")
            text: JsonObject = {"type": "string", "maxLength": limit}
            return {**text, "minLength": least} if isinstance(least, int) else text
        if kind == "integer":
            return {"type": "integer"} | {k: schema[k] for k in ("minimum", "maximum") if k in schema}
        if kind in _SCALARS:
            return {"type": kind}
        return _ANYTHING

    def _any_of(self, schemas: Iterable[JsonObject], depth: int) -> JsonObject:
        return {"anyOf": [part for item in schemas for part in _parts(self._compile(item, depth))]}

    def _array(self, schema: JsonObject, depth: int) -> JsonObject:
        bound = schema.get("maxItems")
        least = schema.get("minItems")
        return {
            "type": "array",
            "items": self.compile_value(as_object(schema.get("items")), depth + 1),
            "minItems": least if isinstance(least, int) else 0,
            "maxItems": min(bound, MAX_ARRAY_ITEMS) if isinstance(bound, int) else MAX_ARRAY_ITEMS,
        }


def _parts(schema: JsonObject) -> list[JsonObject]:
    alternatives = schema.get("anyOf")
    return [as_object(item) for item in alternatives] if is_list(alternatives) else [schema]


def _int(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
