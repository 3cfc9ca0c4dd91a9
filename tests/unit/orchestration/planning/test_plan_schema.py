import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.planning.plan_schema import (
    MAX_MODEL_STEPS,
    compile_arguments,
    compile_plan_schema,
    compile_tool_calls,
    largest_bytes,
)
from tests.support.strategy import ADD, LOOK, SPECS, STORE, spec

CORE = {
    "type", "enum", "const", "anyOf", "minLength", "maxLength", "pattern", "minItems", "maxItems", "items",
    "minimum", "maximum", "properties", "required", "additionalProperties",
}  # fmt: skip


def admits(schema: JsonObject, value: JsonValue) -> bool:
    return jsonschema_rs.Draft202012Validator(dict(schema)).is_valid(value)


def steps(*items: JsonValue) -> JsonValue:
    return {"steps": list(items)}


PLAN = compile_plan_schema(SPECS)


@pytest.mark.parametrize(
    "step",
    [
        {"tool": "add", "arguments": {"a": 1, "b": 2}},
        {"tool": "add", "arguments": {"a": "$s1", "b": "$s2.total[3].n"}},
        {"tool": "send", "arguments": {"to": "you", "lines": "$s1.lines"}},
        {"tool": "send", "arguments": {"to": "you", "lines": ["a", "$s1"]}},
        {"tool": "store", "arguments": {"key": "k", "value": [1, "two", None]}},
        {"agent": "llm"},
        {"agent": "llm", "task": "Say hello."},
    ],
)
def test_valid_steps_satisfy_the_plan_schema(step: JsonValue) -> None:
    """Calls with values or references, and tasks for the model, can be written under the schema."""
    assert admits(PLAN, steps(step))


@pytest.mark.parametrize(
    "step",
    [
        {"tool": "divide", "arguments": {}},
        {"tool": "add", "arguments": {"a": 1}},
        {"tool": "add", "arguments": {"a": 1, "b": 2, "c": 3}},
        {"tool": "add", "arguments": {"a": "one", "b": 2}},
        {"tool": "add", "arguments": {"a": "$s9", "b": 2}},
        {"tool": "look", "arguments": {"a": 1, "b": 2}},
        {"tool": "add", "agent": "llm", "arguments": {"a": 1, "b": 2}},
        {"agent": "somebody"},
        {"agent": "llm", "task": ""},
        {},
    ],
)
def test_impossible_steps_violate_the_plan_schema(step: JsonValue) -> None:
    """An unknown tool or agent, and arguments that are missing, unknown or wrong, break the schema."""
    assert not admits(PLAN, steps(step))


def test_a_plan_has_one_step_at_least_and_a_bounded_number() -> None:
    """A model cannot write an empty plan nor an endless one."""
    step = {"agent": "llm"}
    assert not admits(PLAN, steps())
    assert admits(PLAN, steps(*[step] * MAX_MODEL_STEPS))
    assert not admits(PLAN, steps(*[step] * (MAX_MODEL_STEPS + 1)))


HARD: JsonObject = {
    "choice": {"enum": ["a", "b"], "default": "a"},
    "limited": {"type": "string", "minLength": 2, "maxLength": 5, "format": "date", "pattern": "^x"},
    "maybe": {
        "anyOf": [{"type": "integer", "minimum": 1, "multipleOf": 2}, {"type": "null"}],
        "default": None,
    },
    "both": {"type": ["string", "number"]},
    "one": {"oneOf": [{"const": 1}, {"type": "boolean"}]},
    "point": {"$ref": "#/$defs/point"},
    "tree": {"$ref": "#/$defs/tree"},
    "free": {"type": "object"},
    "any": True,
    "rows": {"type": "array", "items": {"$ref": "#/$defs/point"}, "uniqueItems": True, "minItems": 1},
}
DEFINITIONS: JsonObject = {
    "point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"], "title": "Point"},
    "tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}},
}
DIFFICULT = spec("difficult", HARD, ("choice", "point"), definitions=DEFINITIONS)


def keywords(schema: JsonValue) -> set[str]:
    """Every keyword of a schema and of those within it."""
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    for part in [*schema.get("properties", {}).values(), *schema.get("anyOf", []), schema.get("items")]:
        found |= keywords(part)
    return found


def test_only_what_every_engine_enforces_is_used() -> None:
    """Keywords that some engine ignores silently are left to the Validator."""
    assert keywords(compile_arguments(DIFFICULT)) <= CORE


@pytest.mark.parametrize(
    "arguments",
    [
        {"choice": "a", "point": {"x": 1.5}},
        {"choice": "b", "point": "$s1", "maybe": None, "both": 3, "one": True, "any": [1, "x"]},
        {"choice": "b", "point": {"x": "$s1.x"}, "rows": [{"x": 1}, "$s2"], "free": "$s3", "limited": "xy"},
        {"choice": "a", "point": {"x": 1}, "tree": {"left": {"left": {}}}},
    ],
)
def test_every_kind_of_argument_can_be_written(arguments: JsonValue) -> None:
    """References, unions, enumerations, nested and recursive objects survive the compilation."""
    assert admits(compile_arguments(DIFFICULT), arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"choice": "c", "point": {"x": 1}},
        {"choice": "a", "point": {"x": 1}, "limited": "abcdef"},
        {"choice": "a", "point": {"x": 1}, "maybe": 0},
        {"choice": "a", "point": {"x": 1, "y": 2}},
        {"choice": "a", "point": {"x": 1}, "rows": []},
    ],
)
def test_the_bounds_of_arguments_survive(arguments: JsonValue) -> None:
    """The parts of a tool's schema that are kept are still enforced."""
    assert not admits(compile_arguments(DIFFICULT), arguments)


def texts(schema: JsonValue) -> st.SearchStrategy[Any]:
    """Compact values that a compiled schema admits, the longest ones among them."""
    assert isinstance(schema, dict)
    if "anyOf" in schema:
        return st.one_of([texts(part) for part in schema["anyOf"]])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object":
            return st.fixed_dictionaries({name: texts(part) for name, part in schema["properties"].items()})
        case "array":
            bound = schema["maxItems"]
            return st.lists(texts(schema["items"]), min_size=bound, max_size=bound)
        case "string" if "pattern" in schema:
            return st.just("$s8" + "[123]" + "." + "a" * 24 + "." + "b" * 24)
        case "string":
            longest = schema["maxLength"]
            return st.sampled_from(["", "\x01" * longest, "\U0001f600" * (longest // 2)])
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case _:
            return st.integers(-(2**63), 2**63)


@given(st.data())
def test_no_plan_is_longer_than_the_worst_case(data: st.DataObject) -> None:
    """The computed size bounds every text that the schema admits, escapes included."""
    schema = compile_plan_schema((ADD, LOOK, DIFFICULT))
    step = data.draw(texts(schema["properties"]["steps"]["items"]))  # type: ignore[index,call-overload]
    largest = json.dumps(steps(*[step] * MAX_MODEL_STEPS), separators=(",", ":"))
    assert len(largest.encode()) <= largest_bytes(schema)


def test_one_call_of_any_tool_or_none_can_be_written() -> None:
    """Where one tool is to be chosen, none of them is a choice too."""
    schema = compile_tool_calls((ADD, STORE))
    assert admits(schema, {"tool": "add", "arguments": {"a": 1, "b": 2}})
    assert admits(schema, {"tool": None})
    assert not admits(schema, {"tool": "look", "arguments": {"path": "x"}})


def test_without_tools_a_plan_can_still_be_made() -> None:
    """An empty registry leaves the model itself."""
    assert admits(compile_plan_schema(()), steps({"agent": "llm", "task": "Sing."}))
