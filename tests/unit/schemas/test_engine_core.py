"""The reduction of schemas to the part that engines enforce."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from aeond.errors import InvalidInputError
from aeond.schemas.engine_core import compile_schema


class Leaf(BaseModel):
    """A model as tools have them."""

    count: int = Field(ge=1, le=5, description="How many.")
    note: str | None = Field(None, max_length=10)


class Tree(BaseModel):
    leaves: list[Leaf] = Field(max_length=3)
    kind: str = Field("a", pattern="^[a-z]+$")
    below: list["Tree"] = Field(default_factory=list, max_length=2)


def test_pydantic_models_compile() -> None:
    """Schemas as pydantic writes them, recursion included, compile, and keep what they say."""
    schema = Tree.model_json_schema()
    compiled = compile_schema(schema)
    good = {"leaves": [{"count": 2, "note": None}], "kind": "b", "below": []}
    jsonschema_rs.validator_for(compiled).validate(good)
    for bad in ({**good, "more": 1}, {**good, "kind": "B"}, {**good, "leaves": [{"count": 6}]}):
        assert not jsonschema_rs.validator_for(compiled).is_valid(bad)


@pytest.mark.parametrize(
    ("schema", "compiled"),
    [
        ({"type": "string", "title": "T", "description": "d", "format": "uri"}, {"type": "string"}),
        ({"type": "array", "items": True, "uniqueItems": True}, {"type": "array", "items": {}}),
        ({"type": "number", "minimum": 0.5, "multipleOf": 2}, {"type": "number"}),
        ({"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 0}),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, {"anyOf": [{"const": 1}, {"const": 2}]}),
        ({"allOf": [{"type": "null"}]}, {"type": "null"}),
        (
            {"type": "object", "properties": {"a": {"enum": [1]}}},
            {"type": "object", "properties": {"a": {"enum": [1]}}, "additionalProperties": False},
        ),
        ({"type": "object", "additionalProperties": {"type": "null"}},) * 2,
        ({"type": ["string", "null"], "maxLength": 3},) * 2,
        ({}, {}),
    ],
)
def test_keywords_are_kept_or_left_out(schema: dict[str, Any], compiled: dict[str, Any]) -> None:
    """Constraints of the core stay; keywords that only describe or only narrow are removed."""
    assert compile_schema(schema) == compiled


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "nope"}, "malformed"),
        ({"type": []}, "malformed"),
        ({"properties": {"a": {"type": "text"}}}, "malformed"),
        ({"$ref": "#/$defs/none"}, "/$ref"),
        ({"$ref": "other.json#/$defs/a", "$defs": {"a": {}}}, "/$ref"),
        ({"allOf": [{"type": "integer"}, {"minimum": 5}]}, "/allOf"),
        ({"prefixItems": [{"const": 1}]}, "/prefixItems"),
        ({"anyOf": [{"type": "string"}, False]}, "/anyOf/1"),
        ({"type": "string", "pattern": "(?=a)b"}, "/pattern"),
        ({"type": "string", "pattern": r"(a)\1"}, "/pattern"),
        ({"type": "string", "pattern": "("}, "/pattern"),
        ({"type": "string", "pattern": "[[:alpha:]]"}, "/pattern"),
        ({"$defs": {"a": {"surprise": 1}}}, "/$defs/a/surprise"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "minLength"),
        ({"type": "object", "properties": {"a": {}}, "required": ["b"]}, "/required"),
        ({"enum": []}, "/enum"),
        ({"type": "string", "maxLength": "long"}, "malformed"),
        ({"anyOf": 3}, "malformed"),
        ({"properties": []}, "malformed"),
    ],
)
def test_an_unenforceable_schema_is_rejected(schema: dict[str, Any], place: str) -> None:
    """A schema that the engine would ignore is refused, and the message names the place."""
    with pytest.raises(InvalidInputError) as refused:
        compile_schema(schema)
    assert refused.value.reason == "SCHEMA_UNSUPPORTED"
    assert place in refused.value.message


def test_depth_is_bounded() -> None:
    """A schema nested without end is refused before it costs anything."""
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(500):
        schema = {"type": "array", "items": schema}
    with pytest.raises(InvalidInputError, match="deep"):
        compile_schema(schema)


KEYWORDS = st.sampled_from(
    [
        "type",
        "anyOf",
        "allOf",
        "items",
        "properties",
        "$ref",
        "enum",
        "pattern",
        "minimum",
        "not",
        "$defs",
        "x",
    ]
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(KEYWORDS, ODD, max_size=4))
def test_anything_compiles_or_is_refused(schema: dict[str, Any]) -> None:
    """Whatever is handed in as a schema, the answer is a schema or a refusal."""
    try:
        assert isinstance(compile_schema(schema), dict)
    except InvalidInputError as refused:
        assert refused.reason == "SCHEMA_UNSUPPORTED"
