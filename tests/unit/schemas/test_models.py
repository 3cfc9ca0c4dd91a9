"""Schemas from pydantic models."""

import json
from enum import StrEnum
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field, create_model

from aeond.errors import InvalidInputError
from aeond.schemas.models import MAX_KEPT, model_schema


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Wheel(BaseModel):
    """One of several."""

    title: str
    inches: Annotated[int, Field(ge=10, le=30)] = 26


class Bicycle(BaseModel):
    """Not shown: the tool has a description of its own."""

    colour: Annotated[Colour, Field(description="Paint")] = Colour.RED
    wheels: Annotated[list[Wheel], Field(max_length=2)]
    spare: Wheel | None = None
    kind: Literal["city", "race"] = "city"
    note: str = ""


def properties(model: type[BaseModel]) -> Any:
    return model_schema(model)["properties"]


class Tree(BaseModel):
    branches: list["Tree"]


def test_schema_is_plain() -> None:
    """References are written out and titles and defaults are gone, while fields named so stay."""
    schema = model_schema(Bicycle)
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "$defs" not in text
    assert '"default"' not in text
    assert "description" not in schema
    wheel = properties(Bicycle)["wheels"]["items"]
    assert wheel["properties"]["title"] == {"type": "string"}
    assert wheel["additionalProperties"] is False


def test_defaults_are_reported_in_words() -> None:
    """A default that says something becomes part of the field's description."""
    described = properties(Bicycle)
    assert described["colour"]["description"] == "Paint (default: red)"
    assert described["kind"]["description"] == "(default: city)"
    assert "description" not in described["note"]
    assert "null" not in described["spare"].get("description", "")


def test_only_fields_without_default_are_required() -> None:
    """A field with a default may be left out."""
    assert model_schema(Bicycle)["required"] == ["wheels"]


def test_model_that_contains_itself_is_refused() -> None:
    """A recursive model cannot be written out and is refused with a reason."""
    with pytest.raises(InvalidInputError) as refusal:
        model_schema(Tree)
    assert refusal.value.reason == "SCHEMA_INVALID"


def test_optional_keeps_its_alternatives() -> None:
    """A field that may be null says so."""

    class Box(BaseModel):
        size: Optional[int]  # noqa: UP045  the older spelling gives the same

    assert properties(Box)["size"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}


def test_few_schemas_are_kept() -> None:
    """The schema of a model is written once, and a program that makes models without end keeps no more than so many."""
    assert model_schema(Bicycle) is model_schema(Bicycle)
    for number in range(MAX_KEPT + 10):
        model_schema(create_model(f"Model{number}"))
    assert model_schema.cache_info().currsize == MAX_KEPT <= 256
