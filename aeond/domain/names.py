"""Names as people write them: equal in form, close in spelling, or one part of the other; and the forms of numbers, dates and times.

Only form counts: letters, digits, case, accents and spacing. No rule here depends on a language.
"""

import difflib
import mimetypes
import re
import unicodedata
from collections.abc import Iterable
from enum import IntEnum
from typing import Final

# Letters that Unicode does not decompose into a base letter and a mark.
_LETTERS: Final = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"}
)
TEXT_ENDINGS: Final = frozenset(
    {".json", ".md"} | {ending for ending, kind in mimetypes.types_map.items() if kind.startswith("text/")}
)
"""The endings of the names of text files, in small letters with their dot."""

NARROW_SPACES: Final = "\u00a0\u2009\u202f"
"""The spaces that stand between groups of digits and divide no words."""

GROUPING: Final = f" {NARROW_SPACES}'\u2019_"
"""The characters that stand between groups of three digits, beside the point and the comma."""

POINTED: Final = re.compile(r"\d{1,3}(?:\.\d{3})+")
"""A number in which the points may divide groups of digits, as in 1.200."""

_TIME: Final = r"\d{1,2}[:h]\d\d(?::\d\d)?"
TIME: Final = re.compile(_TIME)
DATE: Final = re.compile(
    r"(?:\d{4}-\d\d(?:-\d\d)?|\d{4}([./])\d{1,2}\1\d{1,2}"
    r"|\d{1,2}-\d{1,2}-\d{2,4}|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?|\d{1,2}/\d{1,2}(?:/\d{2,4})?)"
    rf"(?:[ T]{_TIME}.*)?"
)
"""A day, perhaps with a time of day, or a month of a year."""

_POSSESSIVE: Final = re.compile(r"(?<=\w)['\u2019]s\b")
_DIGITS: Final = re.compile(r"\d+")
_SHORTEST_SPELLED_OUT: Final = 4
_SPELLED_OUT: Final = re.compile("([aou])e")  # as ä, ö, ü, æ and œ are without their signs
_COMBINING: Final = re.compile("[\u0300-\u036f]+")

_LIKENESS: Final = 0.83  # of two words, from 0 to 1: one letter in six differs
_SHORTEST_CLOSE: Final = 5  # characters; of shorter words a single letter makes another word
_SHORTEST_ENDED: Final = 4  # may have one more letter at its end
_SHORTEST_PART: Final = 3


class Match(IntEnum):
    """How well a name fits what was asked for; the larger the better."""

    NONE = 0
    PART = 1  # every word asked for stands in the name
    CLOSE = 2  # spelt almost so
    FORM = 3  # the same but for case, accents, spacing and punctuation
    EXACT = 4


def folded(text: str) -> str:
    """The text without case and accents."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _COMBINING.sub("", plain)).translate(_LETTERS)


def words_of(text: str) -> tuple[str, ...]:
    """The runs of letters and digits in the folded text. A possessive 's belongs to no word."""
    plain = _POSSESSIVE.sub("", folded(text))
    others = {ord(sign): " " for sign in set(plain) if unicodedata.category(sign)[0] not in "LMN"}
    return tuple(plain.translate(others).split())


def words_to_match(text: str) -> tuple[str, ...]:
    """The words of the text as they compare where one person writes "Läufer" and another "Laeufer": of a vowel with an e behind it the vowel alone.
    Short words, such as "Joe", stay as they are."""
    words = words_of(text)
    return tuple(
        _SPELLED_OUT.sub(r"\1", word) if len(word) >= _SHORTEST_SPELLED_OUT else word for word in words
    )


def same_form(first: str, second: str) -> bool:
    """Whether two names differ in case, accents, spacing and punctuation alone; names without a letter or
    digit have no form."""
    form = "".join(words_of(first))
    return form != "" and form == "".join(words_of(second))


def close(first: str, second: str) -> bool:
    """Whether two names are spelt almost alike. Digits and short words must be equal."""
    ours, theirs = words_of(first), words_of(second)
    if not ours or not theirs:
        return False
    if len(ours) == len(theirs):
        return all(one == other or _alike(one, other) for one, other in zip(ours, theirs, strict=True))
    return _alike("".join(ours), "".join(theirs))


def holds(name: str, wanted: str) -> bool:
    """Whether every word asked for stands in the name, one of four letters and more perhaps with an ending."""
    asked = [word for word in words_of(wanted) if len(word) >= _SHORTEST_PART or word.isdigit()]
    there = words_of(name)
    return bool(asked) and all(any(_begins(word, other) for other in there) for word in asked)


def fit(wanted: str, name: str) -> Match:
    """How well the name fits."""
    if wanted == name:
        return Match.EXACT
    if same_form(wanted, name):
        return Match.FORM
    if close(wanted, name):
        return Match.CLOSE
    return Match.PART if holds(name, wanted) else Match.NONE


def likeness(first: str, second: str) -> float:
    """From 0 to 1, to put names in order: how much of the words of one stands in the other."""
    ours, theirs = words_of(first), words_of(second)
    if not ours or not theirs:
        return 0.0
    shared = sum(max(_similar(word, other) for other in theirs) for word in ours) / len(ours)
    whole = difflib.SequenceMatcher(None, "".join(ours), "".join(theirs), autojunk=False).ratio()
    return 0.6 * shared + 0.4 * whole


def nearest(wanted: str, names: Iterable[str], limit: int, *, least: float = 0.0) -> tuple[str, ...]:
    """The names most alike, the likeliest first; equal ones keep their order."""
    ranked = sorted(((likeness(wanted, name), name) for name in names), key=lambda pair: -pair[0])
    return tuple(name for alike, name in ranked[:limit] if alike >= least)


def between_groups(signs: str) -> re.Pattern[str]:
    """Finds each of the signs between two groups of digits, as in 1 200."""
    return re.compile(rf"(?<=\d)[{signs}](?=\d{{3}}(?!\d))")


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) >= _SHORTEST_ENDED and len(long) == len(short) + 1 and long.startswith(short):
        return not long[-1].isdigit()
    if min(len(one), len(other)) < _SHORTEST_CLOSE or _DIGITS.findall(one) != _DIGITS.findall(other):
        return False
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio() >= _LIKENESS


def _begins(word: str, other: str) -> bool:
    return word == other or (len(word) >= 4 and not word.isdigit() and other.startswith(word))


def _similar(word: str, other: str) -> float:
    if word == other:
        return 1.0
    if _begins(word, other) or _begins(other, word):
        return 0.9
    ratio = difflib.SequenceMatcher(None, word, other, autojunk=False).ratio()
    return ratio if ratio >= 0.7 else 0.0
