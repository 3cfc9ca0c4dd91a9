"""Single values from the wire."""

import pytest

from aeond_client.calls import values


@pytest.mark.parametrize(
    ("text", "value", "content"), [("", None, ""), ('"a"', "a", "a"), ("[1]", [1], "[1]")]
)
def test_json_text_is_a_value_or_the_content_of_a_message(text: str, value: object, content: str) -> None:
    """Empty text is no value; the content of a message is its text, or the JSON text of another value."""
    assert values.value(text) == value
    assert values.text(text) == content


def test_an_object_that_is_not_there_is_empty() -> None:
    """Empty text is an empty object."""
    assert (values.json_object(""), values.json_object('{"a": 1}')) == ({}, {"a": 1})
