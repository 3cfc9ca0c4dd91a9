import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.memory.entries import check_prefix, end_of
from aeond.errors import InvalidInputError

TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\ud7ff\ue000\U0010ffff"), max_size=5
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
