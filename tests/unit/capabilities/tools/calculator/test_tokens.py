"""The tokens of an expression."""

from fractions import Fraction

import pytest

from aeond.capabilities.tools.calculator.tokens import END, tokens_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("12*x", ["12", "*", "x"]),
        ("2026-06-03-1", ["2026-06-03", "-", "1"]),
        ("2400-12-30", ["2400", "-", "12", "-", "30"]),
        ("max(1,5)", ["max", "(", "1", ",", "5", ")"]),
        ("max(1,5;2)", ["max", "(", "1,5", ";", "2", ")"]),
        ("9:50+1:5", None),
    ],
)
def test_texts_are_split(text: str, tokens: list[str] | None) -> None:
    """Dates and decimal commas are one token, subtractions and arguments are several."""
    if tokens is None:
        with pytest.raises(Exception, match="is not understood"):
            tokens_of(text)
        return
    found = tokens_of(text)
    assert found[-1] == END
    assert [token.text for token in found[:-1]] == tokens


def test_numbers_have_values() -> None:
    """The value of a number is exact in every notation."""
    assert [token.value for token in tokens_of("1.234,5 1e3")][:2] == [Fraction("1234.5"), 1000]
