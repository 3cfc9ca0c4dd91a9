"""Schemas whose references would make checking a value expensive."""

from typing import Any

import pytest

from aeond.errors import InvalidInputError
from aeond.schemas.compiled import CompiledSchema
from aeond.schemas.work import WorkBound


def _doubling(depth: int) -> dict[str, Any]:
    """Each definition refers to the next one twice."""
    parts = {f"n{n}": {"anyOf": [{"$ref": f"#/$defs/n{n + 1}"}] * 2} for n in range(depth)}
    return {"properties": {"a": {"$ref": "#/$defs/n0"}}, "$defs": {**parts, f"n{depth}": {"type": "integer"}}}


_AGAIN: dict[str, Any] = {"type": "object", "properties": {"a": {"$ref": "#"}}}


@pytest.mark.parametrize(
    "schema",
    [
        _doubling(25),
        {"anyOf": [_AGAIN, _AGAIN]},
        {"allOf": [{"$ref": "#"}]},
        {
            "properties": {"a": {"$ref": "#"}},
            "additionalProperties": {"$ref": "#"},
            "propertyNames": {"$ref": "#"},
        }
        | {"patternProperties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}},
        {"properties": {"a": {"$id": "http://x/y", "$ref": "#/$defs/b"}}, "$defs": {"b": {}}},
        {"$dynamicRef": "#x"},
        {"$ref": "other"},
        {"properties": {f"p{n}": {"$ref": "#/$defs/x"} for n in range(2_000)}, "$defs": {"x": {}}},
    ],
)
def test_schemas_without_a_bound_on_their_time_are_refused(schema: dict[str, Any]) -> None:
    """References that would have a value checked exponentially often, in a circle, or out of sight, are refused: a client
    could stop the daemon with such a tool."""
    with pytest.raises(InvalidInputError) as refusal:
        CompiledSchema(schema)
    assert refusal.value.reason == "SCHEMA_INVALID"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (_doubling(3), {"a": 1}),
        ({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}, {"left": {"right": {}}}),
        ({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]}, [1, [2, [3]]]),
        ({"$defs": {"a/b": {"type": "integer"}}, "items": {"$ref": "#/$defs/a~1b"}}, [1]),
    ],
)
def test_usual_references_are_supported(schema: dict[str, Any], value: object) -> None:
    """Shared definitions, trees and nested lists are checked as ever."""
    assert CompiledSchema(schema).problems(value) == ()


def test_parts_are_counted_along_the_longest_path() -> None:
    """Alternatives add up, and of properties, each of which is for another value, the largest counts."""
    assert WorkBound({"type": "integer"}).evaluations() == 1
    assert WorkBound({"anyOf": [{}, {"not": {}}]}).evaluations() == 4
    assert WorkBound({"properties": {"a": {}, "b": {"anyOf": [{}, {}]}}}).evaluations() == 4
    assert [WorkBound(_doubling(depth)).evaluations() for depth in range(4)] == [3, 7, 15, 31]
