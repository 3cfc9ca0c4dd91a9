"""Single values from the wire."""

import pytest

from aeond.api.v1 import parts_pb2, tools_pb2
from aeond_client.calls import values


def test_words_are_the_contracts_without_its_prefix() -> None:
    """An enum's value is its name without the prefix, in lower case."""
    assert values.word(tools_pb2.Effect, tools_pb2.EFFECT_WRITE_CONTAINED) == "write_contained"
    assert values.chosen(parts_pb2.Phase, parts_pb2.PHASE_UNSPECIFIED) == ""


def test_a_value_of_a_newer_daemon_has_no_word() -> None:
    """A number without a name is unspecified."""
    assert values.word(parts_pb2.Phase, 99) == "unspecified"


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
