from fractions import Fraction

import pytest

from aeond.capabilities.tools.calculator.numerals import decimal_sign, first_number, plain_numeral


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", "12"),
        ("17.5", "17.5"),
        ("17,5", "17.5"),
        ("0,125", "0.125"),
        ("1,280", "1280"),
        ("1,280,500", "1280500"),
        ("1.280.500", "1280500"),
        ("1.280", "1.28"),
        ("1.280,50", "1280.5"),
        ("1,280.50", "1280.5"),
        ("1 280,50", "1280.5"),
        ("1\N{NO-BREAK SPACE}280", "1280"),
        ("1'280.5", "1280.5"),
        (".5", "0.5"),
        ("-3 %", "-3"),
        ("\N{MINUS SIGN}7", "-7"),
        ("EUR 12.30", "12.3"),
        ("\N{EURO SIGN}12", "12"),
        ("12kg", "12"),
        ("(5)", "5"),
    ],
)
def test_a_number_is_read_in_any_notation(text: str, number: str) -> None:
    """Groups of thousands, decimal commas, signs, currencies and units do not hide a number."""
    assert first_number(text) == Fraction(number)


@pytest.mark.parametrize("text", ["", "none", "Q4", "2026-03-06", "3-4", "10:30", "1 or 2", "1.2.3", "1,2,3"])
def test_other_texts_hold_no_number(text: str) -> None:
    """A text with several numbers, a date or a name with a digit in it is not a number."""
    assert first_number(text) is None


def test_a_numeral_that_cannot_be_read_is_refused() -> None:
    """Signs in impossible places make no number."""
    for text in ("1.2.3", "1,2.3,4", "12,34,56"):
        with pytest.raises(ValueError, match=text.replace(".", r"\.")):
            plain_numeral(text)


@pytest.mark.parametrize(
    ("sign", "texts"),
    [
        (",", ["1.250,50", "17,5", "-0,125 %", "1500,250", "1 280,5", "1.280.500"]),
        (".", ["1,250.50", "17.5", "0.125", "1500.250", ".5", "1,280,500"]),
        ("", ["1.280", "1,280", "12", "1.2.3", "1 or 2.5", "none", ""]),
    ],
)
def test_a_numeral_shows_its_decimal_sign(sign: str, texts: list[str]) -> None:
    """The sign that cannot group thousands is the decimal one; one before three digits may be either."""
    assert [decimal_sign(text) for text in texts] == [sign] * len(texts)
