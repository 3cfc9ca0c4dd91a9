import pytest

from aeond.domain.values import JsonObject
from aeond.schemas.parts import part_at, required_of, resolve

ROOT: JsonObject = {
    "type": "object",
    "properties": {
        "size": {"$ref": "#/$defs/size"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"$ref": "#/$defs/size"}}}},
    },
    "$defs": {"size": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}, "a/b": {"type": "null"}},
}


@pytest.mark.parametrize(
    ("path", "kind"),
    [(("size",), "integer"), (("rows",), "array"), (("rows", 3), "object"), (("rows", 0, "n"), "integer")],
)
def test_the_schema_of_a_place_is_found_through_references(path: tuple[str | int, ...], kind: str) -> None:
    """The part of a schema that speaks about one argument is found, also below lists and references."""
    assert part_at(ROOT, path)["type"] == kind


def test_a_place_that_the_schema_does_not_know_admits_anything() -> None:
    """Where the schema is silent nothing is demanded."""
    assert "type" not in part_at(ROOT, ("nowhere", 3))


@pytest.mark.parametrize(
    "target", ["#/$defs/loop", "#/$defs/nothing", "other.json#/x", "#/properties/size/x"]
)
def test_references_that_lead_nowhere_or_in_a_circle_admit_anything(target: str) -> None:
    """A broken reference demands nothing, and following it ends."""
    assert resolve({"$ref": target}, ROOT) == {}


def test_escaped_names_in_references_are_followed() -> None:
    """A definition whose name holds a slash is found."""
    assert resolve({"$ref": "#/$defs/a~1b"}, ROOT) == {"type": "null"}


@pytest.mark.parametrize("schema", [{}, {"required": None}, {"required": "size"}])
def test_a_schema_without_a_list_of_required_fields_requires_none(schema: JsonObject) -> None:
    """What stands in the place of the list is no list of names."""
    assert required_of(schema) == []
    assert required_of({"required": ("size", "rows")}) == ["size", "rows"]
