"""JSON pointers and references within a document."""

from typing import Any

import pytest

from aeond.schemas.pointers import pointer, pointer_token, referenced

DOCUMENT: dict[str, Any] = {"$defs": {"a/b": {"type": "null"}, "é": 1}, "anyOf": [{"x": 1}, {"x": 2}]}


@pytest.mark.parametrize(("name", "token"), [("a", "/a"), (3, "/3"), ("a/b~c", "/a~1b~0c"), ("", "/")])
def test_pointer_tokens_are_escaped(name: str | int, token: str) -> None:
    """A name with slashes or tildes stays one step of its pointer."""
    assert pointer_token(name) == token


def test_a_pointer_has_one_step_for_each_part_of_the_path() -> None:
    """The whole value has the empty pointer."""
    assert pointer(()) == ""
    assert pointer(("rows", 1, "a/b")) == "/rows/1/a~1b"


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("#", DOCUMENT),
        ("#/$defs/a~1b", {"type": "null"}),
        ("#/$defs/%C3%A9", 1),
        ("#/anyOf/1/x", 2),
    ],
)
def test_references_are_followed(reference: str, found: object) -> None:
    """Escaped and percent-encoded names and the places of lists are understood."""
    assert referenced(DOCUMENT, reference) == found


@pytest.mark.parametrize(
    "reference",
    ["", "other", "other.json#/$defs", "#x", "#/nothing", "#/anyOf/2", "#/anyOf/-1", "#/anyOf/0/x/y"],
)
def test_references_that_lead_nowhere_are_errors(reference: str) -> None:
    """A reference to another document or to a missing part raises LookupError."""
    with pytest.raises(LookupError):
        referenced(DOCUMENT, reference)
