"""The tokens of an expression."""

from fractions import Fraction

import pytest

from aeond.capabilities.tools.calculator.tokens import END, tokens_of
from aeond.errors import ToolError


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("12*x", ["12", "*", "x"]),
        ("2026-06-03-1", ["2026-06-03", "-", "1"]),
        ("2400-12-30", ["2400", "-", "12", "-", "30"]),
        ("max(1,5)", ["max", "(", "1", ",", "5", ")"]),
        ("max(1,5;2)", ["max", "(", "1,5", ";", "2", ")"]),
        (
            "max(date(2026,3,10), 5)",
            ["max", "(", "date", "(", "2026", ",", "3", ",", "10", ")", ",", "5", ")"],
        ),
        ("round(10 / 3,2)", ["round", "(", "10", "/", "3", ",", "2", ")"]),
        ("max(round(10/3,2), 3)", ["max", "(", "round", "(", "10", "/", "3", ",", "2", ")", ",", "3", ")"]),
        ("date(2026, 3,10)", ["date", "(", "2026", ",", "3", ",", "10", ")"]),
        ("sum(1,5,2,5)", ["sum", "(", "1", ",", "5", ",", "2", ",", "5", ")"]),
        ("sum(1,5 + 2,5)", ["sum", "(", "1", ",", "5", "+", "2", ",", "5", ")"]),
        ("2,5*max(1, 5)", ["2,5", "*", "max", "(", "1", ",", "5", ")"]),
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "sum(1,5, 2,5)",
            "1,5 may be one number or several; write for example 1.5 for one, 1, 5 for several",
        ),
        ("sum(1, 2,5)", "2,5 may be"),
        ("sum(1,5 ,2)", "1,5 may be"),
        ("sum([1,5, 2])", "1,5 may be"),
        ("max(round(1,5), 3)", "1,5 may be"),
        ("round(1,5*3, 2)", "1,5 may be"),
        ("sum(1,234, 5)", "1,234 may be one number or several; write for example 1234 for one"),
        ("sum(1,234,567, 5)", "1,234,567 may be"),
        ("sum(1.234,5, 2)", "1.234,5 may be one number or several; write for example 1234.5 for one"),
        ("sum(1 234,5, 2)", "1 234,5 may be one number or several; write for example 1234.5 for one"),
        ("sum(1,5,2, 3)", "1,5 may be"),
        ("round(sum(1,5, 2)/3, 2)", "1,5 may be"),
        ("sum(1,234.50)", "1,234.50 may be"),
    ],
)
def test_a_comma_that_may_be_decimal_or_separate_is_refused(text: str, message: str) -> None:
    """Among arguments with a blank beside a comma, a comma between digits has two readings: neither is computed."""
    with pytest.raises(ToolError) as caught:
        tokens_of(text)
    assert message in str(caught.value)
    assert caught.value.reason == "EXPRESSION_INVALID"
