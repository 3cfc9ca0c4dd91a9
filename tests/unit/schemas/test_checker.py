import pytest

from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.planning.step_references import refers
from aeond.schemas.checker import MAX_ERRORS, MAX_SCHEMAS, SchemaChecker

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 1},
        "name": {"type": "string"},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"a/b": {"type": "integer"}}}},
    },
    "required": ["n"],
    "additionalProperties": False,
}


def found(value: JsonValue, **how: bool) -> set[tuple[str, str]]:
    pending = (lambda part: refers(part, ("fetch",))) if how.get("references") else None
    problems = SchemaChecker().check(value, SCHEMA, "ARGUMENT", is_pending=pending)
    return {(problem.reason, problem.path) for problem in problems}


def test_every_problem_has_its_reason_and_its_place() -> None:
    """Missing, unknown and wrong values each have their reason and place, all of them at once."""
    value: JsonValue = {"name": 5, "extra": 1, "rows": [{"a/b": 1}, {"a/b": "x"}]}
    assert found(value) == {
        ("ARGUMENT_MISSING", "/n"),
        ("ARGUMENT_UNKNOWN", "/extra"),
        ("ARGUMENT_INVALID", "/name"),
        ("ARGUMENT_INVALID", "/rows/1/a~1b"),
    }


def test_a_valid_value_has_no_problems() -> None:
    """A value that satisfies the schema passes."""
    assert found({"n": 1, "name": "x", "either": None, "rows": []}) == set()


@pytest.mark.parametrize("name", ["n", "either", "rows"])
@pytest.mark.parametrize("text", ["$s1", "$fetch.body", "$s2.rows[0]"])
def test_a_reference_stands_for_any_value(name: str, text: str) -> None:
    """A reference to a step is accepted wherever a value is wanted, if references are accepted at all."""
    assert ("ARGUMENT_INVALID", f"/{name}") in found({"n": 1, name: text})
    assert found({"n": 1, name: text}, references=True) == set()


def test_text_that_is_no_reference_is_held_to_the_schema() -> None:
    """A dollar sign alone excuses nothing."""
    assert found({"n": "$5"}, references=True) == {("ARGUMENT_INVALID", "/n")}


def test_a_reference_excuses_nothing_beside_it() -> None:
    """A reference in one argument hides no problem of another."""
    assert found({"name": "$s1", "extra": 1}, references=True) == {
        ("ARGUMENT_MISSING", "/n"),
        ("ARGUMENT_UNKNOWN", "/extra"),
    }


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"$ref": "https://example.invalid/x"}, {"pattern": "("}]
)
def test_a_schema_that_cannot_be_used_is_a_problem(schema: JsonObject) -> None:
    """A broken schema, or one that points to another host, is reported and never fetched."""
    (problem,) = SchemaChecker().check({}, schema, "OUTPUT")
    assert problem.reason == "SCHEMA_UNUSABLE"


def test_messages_and_their_number_are_bounded() -> None:
    """A huge wrong value makes neither a huge message nor endless ones."""
    problems = SchemaChecker().check(["x" * 5000] * 500, {"items": {"type": "integer"}}, "OUTPUT")
    assert len(problems) == MAX_ERRORS
    assert max(len(problem.message) for problem in problems) < 400


def test_the_number_of_compiled_schemas_is_bounded() -> None:
    """Many different schemas do not fill the memory."""
    checker = SchemaChecker()
    for maximum in range(MAX_SCHEMAS + 10):
        checker.check(1, {"maximum": maximum}, "OUTPUT")
    assert len(checker._compiled) == MAX_SCHEMAS


def test_integers_of_any_size_are_judged() -> None:
    """An output with an integer beyond 64 bits is held to its schema like any other."""
    checker = SchemaChecker()
    assert checker.check(2**100, {"type": "integer"}, "OUTPUT") == ()
    assert [p.reason for p in checker.check(2**100, {"maximum": 5}, "OUTPUT")] == ["OUTPUT_INVALID"]
