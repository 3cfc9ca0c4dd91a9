import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.errors import InvalidInputError
from aeond.server.wire.json_text import json_object, json_text, json_value, plain_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_every_json_value_survives_the_wire(value: Any) -> None:
    """A value is the same after it was text, integers of any size and floats to the last digit."""
    assert json_value(json_text(value), "field") == value


@given(st.text(st.characters(blacklist_categories=())))
def test_any_text_can_be_put_on_the_wire(text: str) -> None:
    """Text with lone surrogates becomes something that UTF-8 can carry; other text stays as it is."""
    plain_text(text).encode()
    assert json.loads(json_text(text)) == text
    json_text(text).encode()
    if text.isprintable():
        assert plain_text(text) == text


def test_keys_keep_their_order_and_no_space_is_spent() -> None:
    """The text is compact and in the order of the value."""
    assert json_text({"b": [1, "ü"], "a": None}) == '{"b":[1,"ü"],"a":null}'


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"c": 1, "d": 2, "\\u0063": 3}}]'])
def test_a_key_given_twice_is_refused(text: str) -> None:
    """An object with two values for one key means one thing to one reader and another to the next: it is refused."""
    with pytest.raises(InvalidInputError) as raised:
        json_value(text, "arguments_json")
    assert (raised.value.reason, raised.value.field) == ("DUPLICATE_KEY", "arguments_json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "nul",
        "NaN",
        "-Infinity",
        "1e999",
        "[-1e999]",
        '"\\ud800"',
        "[1,]",
        "{'a': 1}",
        "1 2",
        '"\x01"',
        "9" * 5_000,
        "[" * 210 + "]" * 210,
        "[" * 200_000 + "]" * 200_000,
        '{"a":' * 150_000,
    ],
)
def test_malformed_json_is_rejected_with_its_field(text: str) -> None:
    """Malformed, endless and bottomless texts are all refused in the same way, without any crash."""
    with pytest.raises(InvalidInputError) as raised:
        json_value(text, "steps[1].arguments_json")
    assert (raised.value.reason, raised.value.field) == ("INVALID_JSON", "steps[1].arguments_json")


def test_deep_but_bounded_json_is_taken() -> None:
    """Two hundred levels are still a value."""
    assert json_value("[" * 200 + "]" * 200, "field") is not None


@pytest.mark.parametrize("text", ['"' + "x" * 100 + '"', '"' + "ü" * 60 + '"'])
def test_a_text_beyond_its_bound_is_not_parsed(text: str) -> None:
    """The bound counts bytes, and what exceeds it is refused before it is read."""
    with pytest.raises(InvalidInputError) as raised:
        json_value(text, "field", max_bytes=100)
    assert raised.value.reason == "TOO_LONG"


def test_objects_are_distinguished_from_other_values() -> None:
    """Arguments are an object; no text at all means none."""
    assert json_object("", "field") == {}
    assert json_object('{"a": 1}', "field") == {"a": 1}
    with pytest.raises(InvalidInputError) as raised:
        json_object("[1]", "field")
    assert raised.value.reason == "NOT_AN_OBJECT"
