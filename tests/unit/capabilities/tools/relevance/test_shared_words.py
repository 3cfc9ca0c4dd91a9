"""Whether a text has a word that was said."""

import pytest

from aeond.capabilities.tools.relevance.shared_words import is_said

TELLING = 4


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("algae on the glass", ("algae",), True),
        ("algae on the glass", ("the", "on"), False),
        ("the tea", ("tea",), True),
        ("two rings", ("ringe",), True),
        ("adapter", ("adaptateur",), True),
        ("costs 243000", ("243",), True),
        ("costs 2430", ("24",), False),
        ("costs 7", ("17",), False),
        ("", ("tea",), False),
    ],
)
def test_a_telling_word_or_a_number_is_said(text: str, words: tuple[str, ...], *, said: bool) -> None:
    """A word counts with another ending, a number with further zeros, and a short word only in a text without longer ones."""
    assert is_said(text, words, TELLING) is said
