"""Guarantees of every ToolRegistry."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from aeond.capabilities.tools.registry import MAX_DESCRIPTION_CHARS, Registry
from aeond.errors import AlreadyExistsError, InvalidInputError
from aeond.ports import ToolRegistry
from tests.support.tools import CONTEXT, TEXT_OBJECT, FreeTool, returning

REGISTRIES: dict[str, Callable[[], ToolRegistry]] = {"Registry": Registry}


@pytest.fixture(params=REGISTRIES)
def registry(request: pytest.FixtureRequest) -> ToolRegistry:
    return REGISTRIES[request.param]()


async def test_registered_tool_is_found(registry: ToolRegistry) -> None:
    """The name of a registered tool gives that tool, with the spec that is listed and the work it does."""
    registry.register(FreeTool("one", recall=returning("recalled")))
    found = registry.get("one")
    assert found is not None
    assert [found.spec] == list(registry.specs())
    assert await found.execute({"text": "hi"}, CONTEXT) == {"text": "hi"}
    assert await found.reconcile({"text": "hi"}, CONTEXT) == "recalled"
    assert registry.get("two") is None


def test_names_and_specs_are_sorted(registry: ToolRegistry) -> None:
    """Names and specs come in the order of the alphabet, whatever the order of registration."""
    for name in ("walk", "run", "swim"):
        registry.register(FreeTool(name))
    assert list(registry.list_names()) == ["run", "swim", "walk"]
    assert [spec.name for spec in registry.specs()] == ["run", "swim", "walk"]


def test_spec_tells_a_model_everything(registry: ToolRegistry) -> None:
    """The spec has the description, both schemas, the effect and the example of the tool."""
    tool = FreeTool("one", example={"text": "hi"})
    registry.register(tool)
    (spec,) = registry.specs()
    closed = {**TEXT_OBJECT, "additionalProperties": False}
    assert spec == replace(tool.spec, input_schema=closed, output_schema=closed)


def test_name_is_taken_once(registry: ToolRegistry) -> None:
    """A second tool of one name is refused and the first stays."""
    registry.register(FreeTool("one", description="The first."))
    with pytest.raises(AlreadyExistsError) as refusal:
        registry.register(FreeTool("one"))
    assert refusal.value.reason == "TOOL_EXISTS"
    assert [spec.description for spec in registry.specs()] == ["The first."]


@pytest.mark.parametrize(
    "name",
    ["", "A", "1a", "_a", "a-b", "a b", "a.b", "ä", "a\n", "a" * 65, "a\0", "../a", "$s1"],
)
def test_bad_names_are_refused(registry: ToolRegistry, name: str) -> None:
    """A name that a model or a shell could misread is refused."""
    with pytest.raises(InvalidInputError) as refusal:
        registry.register(FreeTool(name))
    assert (refusal.value.reason, refusal.value.field) == ("NAME_INVALID", "name")


@pytest.mark.parametrize("name", ["a", "a1", "a_b", "a" * 64])
def test_good_names_are_taken(registry: ToolRegistry, name: str) -> None:
    """Small letters, digits and underscores make a name."""
    registry.register(FreeTool(name))
    assert list(registry.list_names()) == [name]


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"input_schema": {"type": "array"}}, "SCHEMA_INVALID", "input_schema"),
        ({"input_schema": {"type": "strange"}}, "SCHEMA_INVALID", "input_schema"),
        ({"input_schema": {"properties": {}}}, "SCHEMA_INVALID", "input_schema"),
        ({"input_schema": {}}, "SCHEMA_INVALID", "input_schema"),
        (
            {"input_schema": {"type": "object", "additionalProperties": True}},
            "SCHEMA_INVALID",
            "input_schema",
        ),
        ({"output_schema": {"type": 3}}, "SCHEMA_INVALID", "output_schema"),
        ({"output_schema": {"$ref": "http://127.0.0.1:1/"}}, "SCHEMA_INVALID", "output_schema"),
        ({"example": {}}, "EXAMPLE_INVALID", "example"),
        ({"example": {"text": 3}}, "EXAMPLE_INVALID", "example"),
        ({"example": {"text": "x", "more": 1}}, "EXAMPLE_INVALID", "example"),
        ({"description": " "}, "DESCRIPTION_INVALID", "description"),
        ({"description": "x" * (MAX_DESCRIPTION_CHARS + 1)}, "DESCRIPTION_INVALID", "description"),
        ({"timeout_seconds": 0}, "BOUND_INVALID", "timeout_seconds"),
        ({"timeout_seconds": math.inf}, "BOUND_INVALID", "timeout_seconds"),
        ({"timeout_seconds": math.nan}, "BOUND_INVALID", "timeout_seconds"),
        ({"max_output_bytes": 0}, "BOUND_INVALID", "max_output_bytes"),
    ],
)
def test_unusable_specs_are_refused(
    registry: ToolRegistry, change: dict[str, Any], reason: str, field: str
) -> None:
    """A spec with an unusable part is refused by the name of that part, and nothing is registered."""
    with pytest.raises(InvalidInputError) as refusal:
        registry.register(FreeTool("one", **change))
    assert (refusal.value.reason, refusal.value.field) == (reason, field)
    assert list(registry.list_names()) == []


def test_tool_cannot_change_what_was_registered(registry: ToolRegistry) -> None:
    """A tool cannot change its spec after registration."""
    tool = FreeTool("one", input_schema=dict(TEXT_OBJECT))
    registry.register(tool)
    before = registry.specs()
    tool.input_schema = {"type": "object"}
    tool.description = "Something else."
    assert list(registry.specs()) == list(before)
    found = registry.get("one")
    assert found is not None
    assert found.spec == before[0]
