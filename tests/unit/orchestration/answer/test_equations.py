"""Equations that an answer writes out."""

from datetime import datetime
from functools import partial

import pytest

from aeond.capabilities.tools.calculator.calculator import computed
from aeond.domain.values import JsonValue
from aeond.orchestration.answer.equations import (
    MAX_EQUATIONS,
    computes_nothing,
    corrected,
    evaluated,
    numbers_in,
    states,
)

compute = partial(computed, now=lambda: datetime.fromisoformat("2026-03-02T10:15"))


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("That is 20 + 35 + 41 = 86 minutes.", "That is 20 + 35 + 41 = 96 minutes."),
        ("Lena pays 30 more: 120 - 95 = 30 euros.", "Lena pays 25 more: 120 - 95 = 25 euros."),
        ("(48,50 € + 22 €) / 2 = 30 €", "(48,50 € + 22 €) / 2 = 35,25 €"),
        ("12:30 - 10:02 = 2:32 hours", "12:30 - 10:02 = 2:28 hours"),
        ("2 \u00d7 3 m = 5 m, and 9 \u00f7 3 = 3", "2 \u00d7 3 m = 6 m, and 9 \u00f7 3 = 3"),
        ("5 + 7.5 = 13.5km", "5 + 7.5 = 12.5km"),
        ("5 - 2 = 5, of 5 lamps", "5 - 2 = 3, of 5 lamps"),
        ("2011 - 2026 = 5 years", "2011 - 2026 = 15 years"),
        ("3 + 4 = 8, and 8 * 2 = 16", "3 + 4 = 7, and 7 * 2 = 14"),
    ],
)
def test_a_wrong_result_is_replaced(written: str, right: str) -> None:
    """The right value stands in the equation and wherever else the text says it, unless the wrong one is an operand."""
    assert corrected(written, compute) == right


@pytest.mark.parametrize(
    "text",
    [
        "120 + 95 = 215",
        "10 / 3 = 3.33, about 3.3",
        "(120 + 95 + 120) / 3 = 111,67",
        "x = 3 and width = 4",
        "2026-03-01 = Sunday",
        "A-4 = B",
        "12:30 - 10:02 = 2:28",
        "12:30 - 10:02 = 2 hours",
        "1 / 0 = 7",
        "12 + 3 = 1.2.3",
        "Nothing to compute.",
        "2 kg + 300 g = 2.3 kg",
        "90 min + 30 min = 2 h",
        "5 km / 20 min = 15 km/h",
        "12 / 40 = 30%, or 12 / 40 = 0.30 %",
        "5 + 7.5 = 12.5km",
    ],
)
def test_what_is_right_or_cannot_be_judged_stays(text: str) -> None:
    """Rounded values, other uses of the sign and what has no value are left as they are."""
    assert corrected(text, compute) == text


def test_without_a_calculator_nothing_is_judged() -> None:
    """Every equation stays."""
    assert corrected("1 + 1 = 3", computes_nothing) == "1 + 1 = 3"


def test_the_number_of_equations_is_bounded() -> None:
    """What follows the first MAX_EQUATIONS stays."""
    text = "; ".join(f"{number} + 1 = {900 + number}" for number in range(1, MAX_EQUATIONS + 2))
    result = corrected(text, compute)
    assert f"{MAX_EQUATIONS} + 1 = {MAX_EQUATIONS + 1};" in result
    assert result.endswith(f" = {901 + MAX_EQUATIONS}")


@pytest.mark.parametrize(
    ("text", "result", "stated"),
    [
        ("You paid 257.30 euros.", "257.3", True),
        ("Das macht 1.257,30 Euro.", "1257.3", True),
        ("About 3.3 each.", "3.33333", True),
        ("It is 42 days.", "44 days", False),
        ("7 sets", "257.3", False),
        ("", "257.3", False),
        ("Many.", "Tuesday", True),
    ],
)
def test_an_answer_states_the_result(text: str, result: str, stated: bool) -> None:
    """Each number of the result stands in it, perhaps rounded, and however it is written."""
    assert states(text, result) is stated


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("6 * 18.5 = 111.00", "111.00"),
        ("4 oars * 65 euros/oar = 260 euros", "260 euros"),
        ("4 oars * 65 euros for each = 260 euros", "260 euros"),
        ("total - 20 + 35 + 41 = 86 minutes", "total - 96 minutes"),
        ([{"add": "Club: 12+30=42"}], [{"add": "Club: 42"}]),
        ("a = 3 + b", "a = 3 + b"),
        ("2 + 2 = 5", "2 + 2 = 5"),
        (7, 7),
    ],
)
def test_the_result_alone_is_written(written: JsonValue, expected: JsonValue) -> None:
    """In place of an equation that is neither asked for nor in view its right result stands."""
    assert evaluated(written, compute, "write 2 + 2 = 5 into wrong.txt") == expected


@pytest.mark.parametrize("text", ["1 200", "1\u2009200", "1'200", "1\u2019200", "1_200", "1,200", "1.200"])
def test_grouped_digits_are_one_number(text: str) -> None:
    """Whatever stands between groups of three digits, they may be one number."""
    assert 1200 in numbers_in(f"What is a tenth of {text}?")
