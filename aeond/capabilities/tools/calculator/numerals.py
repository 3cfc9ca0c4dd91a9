"""Numbers as people write them: with groups of thousands, a decimal point or comma, a currency sign."""

import re
from fractions import Fraction
from typing import Final

from aeond.domain.names import GROUPING, between_groups

_GROUPED: Final = between_groups(GROUPING)
NUMERAL: Final = re.compile(
    rf"\d+(?:[{GROUPING}]\d{{3}}(?!\d))*(?:[.,]\d+)*|\.\d+",
    re.ASCII,
)
# A sign belongs to the number, a hyphen after a letter or digit does not; nor is the 4 of Q4 a number.
SIGNED_NUMERAL: Final = re.compile(rf"(?<![^\W_])(?:[-+\u2212]\s?)?(?:{NUMERAL.pattern})")


def plain_numeral(text: str) -> str:
    """A numeral with a decimal point and nothing between its digits.

    One comma before exactly three digits groups thousands, as in 1,280; any other single comma is a decimal
    one, as in 17,5. One point is a decimal point. Where both stand, the last one is the decimal sign.
    """
    text = _GROUPED.sub("", text)
    points, commas = text.count("."), text.count(",")
    if points and commas:
        decimal = max(".", ",", key=text.rfind)
        if text.count(decimal) > 1:
            raise ValueError(text)
        return text.replace("," if decimal == "." else ".", "").replace(decimal, ".")
    if commas == 1 and not re.fullmatch(r"[1-9]\d{0,2},\d{3}", text):
        return text.replace(",", ".")
    if commas:
        return _grouped(text, ",")
    return _grouped(text, ".") if points > 1 else text


def first_number(text: str) -> Fraction | None:
    """The only number in a text, such as a cell "EUR 1.280,50" or "-3 %"; None where there is none or several."""
    found = SIGNED_NUMERAL.findall(text)
    if len(found) != 1:
        return None
    return number_of(found[0])


def number_of(text: str) -> Fraction | None:
    """The number that a signed numeral stands for; None for one that cannot be read, such as 1.2.3."""
    sign = -1 if text.lstrip()[:1] in ("-", "\u2212") else 1
    try:
        return sign * Fraction(plain_numeral(text.lstrip("-+\u2212 ")))
    except ValueError:
        return None


def decimal_sign(text: str) -> str:
    """The point or comma that can only be the decimal sign in the only number of a text; empty where either may be meant.

    In 1.250,50 and 17,5 it is the comma, in 1,280,000 and 17.5 the point; 1.280 and 1,280 leave it open.
    """
    found = SIGNED_NUMERAL.findall(text)
    if len(found) != 1:
        return ""
    numeral = _GROUPED.sub("", found[0].lstrip("-+\u2212 "))
    signs = [character for character in numeral if character in ".,"]
    if len(signs) < 2:
        return "" if re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", numeral) else "".join(signs)
    if number_of(numeral) is None:
        return ""
    if len(set(signs)) == 1:  # several of one kind group
        return "," if signs[0] == "." else "."
    return signs[-1]


def _grouped(text: str, sign: str) -> str:
    if not re.fullmatch(rf"\d{{1,3}}(?:{re.escape(sign)}\d{{3}})+", text):
        raise ValueError(text)
    return text.replace(sign, "")
