import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.memory.entries import (
    check_prefix,
    decode_beginning,
    decode_value,
    encode_value,
    end_of,
)
from aeond.domain.values import JsonValue
from aeond.errors import InvalidInputError

TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\ud7ff\ue000\U0010ffff"), max_size=5
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(TEXT, parts, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("prefix", "end"),
    [("", None), ("a", "b"), ("a\U0010ffff", "b"), ("\U0010ffff", None), ("\ud7ff", "\ue000"), ("aé", "aê")],
    ids=ascii,
)
def test_the_end_of_a_prefix_is_the_next_text(prefix: str, end: str | None) -> None:
    """The end is the smallest text after all that start with the prefix, and is text itself."""
    assert end_of(prefix) == end


@given(prefix=TEXT, text=TEXT)
def test_between_a_prefix_and_its_end_are_its_texts(prefix: str, text: str) -> None:
    """A text starts with a prefix exactly when it lies from the prefix on and before its end."""
    end = end_of(prefix)
    assert text.startswith(prefix) == (text >= prefix and (end is None or text < end))


def test_any_text_is_a_prefix_and_so_is_none() -> None:
    """The empty prefix means all keys; a broken or endless one is refused."""
    assert check_prefix("") == ""
    for prefix in ("\udfff", "x" * 513):
        with pytest.raises(InvalidInputError):
            check_prefix(prefix)


@given(value=VALUES, most_chars=st.integers(1, 60))
def test_a_long_value_is_read_from_its_beginning(value: JsonValue, most_chars: int) -> None:
    """Of a value whose JSON is cut the end of the last text and the last parts of a list or object may be missing, and nothing is
    different; there is nothing of a number alone."""
    text = encode_value(value)
    part = decode_beginning(text, most_chars)
    assert begins(part, value) or (part is None and not isinstance(value, str | list | dict))
    assert begins(value, part) or len(text) > most_chars


@pytest.mark.parametrize("text", ["price 1000", "1.5e-3", "a \\", 'say "e', '\\"7'])
def test_digits_at_the_end_of_a_cut_text_are_kept(text: str) -> None:
    """What would be a part of a number elsewhere is a part of the text."""
    values: list[JsonValue] = [text + " and more", [1, text + " and more"]]
    for value in values:
        whole = encode_value(value)
        cut = decode_beginning(whole, whole.index(" and more"))
        assert cut == (text if isinstance(value, str) else [1, text])


@pytest.mark.parametrize("whole", ['["a",1234]', '["e\\"",12]', '{"a":[],"b":1.25}'])
def test_the_end_of_a_number_is_never_missing(whole: str) -> None:
    """A number that may go on is left out."""
    assert begins(decode_beginning(whole, len(whole) - 2), decode_value(whole))


def begins(part: JsonValue, whole: JsonValue) -> bool:
    """Whether a value is the other one, or what stands at its beginning."""
    match part, whole:
        case str(), str():
            return whole.startswith(part)
        case list(), list():
            ours, theirs = list(part), list(whole)
        case dict(), dict():
            ours, theirs = [*part.values()], [whole.get(name) for name in part]
            if [*part] != [*whole][: len(part)]:
                return False
        case _:
            return type(part) is type(whole) and part == whole
    last = len(ours) - 1
    return last < len(theirs) and all(
        begins(one, other) if place == last else one == other
        for place, (one, other) in enumerate(zip(ours, theirs, strict=False))
    )
