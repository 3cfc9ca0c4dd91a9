"""Schemas: closed, checked, compiled."""

from typing import Any

import pytest

from aeond.errors import InvalidInputError
from aeond.schemas.compiled import MAX_PROBLEMS, CompiledSchema
from aeond.schemas.parts import closed

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "pets": {"type": "array", "items": {"type": "object", "properties": {"kind": {"enum": ["cat"]}}}},
    },
    "required": ["name"],
}


def test_objects_with_named_fields_are_closed() -> None:
    """An object that names its fields takes no others, also deep inside."""
    schema = CompiledSchema(PERSON)
    assert schema.problems({"name": "Ann", "pets": [{"kind": "cat"}]}) == ()
    assert [problem.path for problem in schema.problems({"name": "Ann", "pets": [{"age": 3}]})] == ["/pets/0"]
    assert [problem.path for problem in schema.problems({"name": "Ann", "age": 3})] == [""]


def test_open_objects_stay_open() -> None:
    """An object that says that it takes any field, or names none, keeps taking any."""
    said: dict[str, Any] = {"type": "object", "properties": {"a": {}}, "additionalProperties": True}
    for schema in (said, {"type": "object"}, {"type": "object", "additionalProperties": {"type": "integer"}}):
        assert CompiledSchema(schema).problems({"b": 1}) == ()


def test_closing_leaves_the_original_alone() -> None:
    """The schema that was given is not changed."""
    before = repr(PERSON)
    closed(PERSON)
    assert repr(PERSON) == before


def test_every_problem_has_its_path() -> None:
    """All problems are reported at once, each with the JSON pointer of its part."""
    found = CompiledSchema(PERSON).problems({"name": "Wilhelmina", "pets": [{"kind": "dog"}, 3]})
    assert {problem.path for problem in found} == {"/name", "/pets/0/kind", "/pets/1"}
    assert all(problem.message for problem in found)


def test_number_of_problems_is_bounded() -> None:
    """A value that is wrong in a thousand places is answered with a bounded list."""
    found = CompiledSchema(PERSON).problems({"name": "Ann", "pets": [3] * 1000})
    assert len(found) == MAX_PROBLEMS


def test_problems_do_not_quote_the_value() -> None:
    """The problem does not repeat the given value, however large it is."""
    found = CompiledSchema(PERSON).problems({"name": "secret" * 10_000})
    assert "secret" not in found[0].message


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strange"},
        {"properties": []},
        {"minLength": -1},
        {"pattern": "("},
        {"pattern": "(?=a)b"},
        {"pattern": r"(a)\1"},
        {"$ref": "#/nowhere"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "http://127.0.0.1:1/schema"},
        {"enum": [float("nan")]},
        {"description": "x" * 300_000},
    ],
)
def test_unusable_schemas_are_refused(schema: dict[str, Any]) -> None:
    """A schema that is wrong, leads elsewhere or holds a pattern without a bound on its time is refused."""
    with pytest.raises(InvalidInputError) as refusal:
        CompiledSchema(schema)
    assert refusal.value.reason == "SCHEMA_INVALID"


def test_schema_that_contains_itself_is_refused() -> None:
    """A schema object that holds itself is refused instead of walked for ever."""
    ring: dict[str, Any] = {"type": "object"}
    ring["properties"] = {"ring": ring}
    with pytest.raises(InvalidInputError):
        CompiledSchema(ring)


def test_large_values_of_large_schemas() -> None:
    """A value whose check would take long is refused unchecked, and of one with many problems the first is reported."""
    schema = CompiledSchema({"items": {"anyOf": [{"const": f"c{n}"} for n in range(1_000)]}})
    assert [problem.reason for problem in schema.problems(["c999"] * 100_000)] == ["TOO_COMPLEX"]
    assert [problem.path for problem in schema.problems(["x"] * 1_000)] == ["/0"]
    assert schema.problems(["c999"] * 1_000) == ()


def test_patterns_take_linear_time() -> None:
    """A pattern that would take years by backtracking is decided at once."""
    schema = CompiledSchema({"type": "string", "pattern": "^(a+)+$"})
    assert schema.problems("a" * 50_000 + "b")


@pytest.mark.parametrize("value", [True, 1.5, "1", None, [1]])
def test_types_are_strict(value: object) -> None:
    """Only a number counts as an integer: no truth value, text or fraction does."""
    assert CompiledSchema({"type": "integer"}).problems(value)


def test_integers_of_any_length_are_integers() -> None:
    """An integer with hundreds of digits is still judged as the integer that it is."""
    assert CompiledSchema({"type": "integer"}).problems(10**299) == ()
