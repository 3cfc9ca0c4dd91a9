"""The words that a request shares with texts: rare ones count most, and words with a common beginning count as nearly equal, so
that endings and slips of the pen matter little. Nothing here depends on a language.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from aeond.domain.names import words_to_match

MAX_REQUEST_WORDS: Final = 60
_SHORTEST: Final = 3  # characters of a word that counts; numbers count at any length
_STEM: Final = 4  # characters that two words share at least to be nearly equal
_STEM_SHARE: Final = 0.7  # of the shorter word
_WHOLE_STEM: Final = 3  # characters of a word that others have whole, with an ending
_INFLECTION: Final = 2  # characters of such an ending
_NEARLY: Final = 0.8  # weight of a word that is nearly equal
_FULL_LENGTH: Final = 8  # characters from which a word has its full weight


def words_that_count(request: str) -> tuple[str, ...]:
    """Its numbers and words of some length, each once."""
    words = dict.fromkeys(
        word for word in words_to_match(request) if len(word) >= _SHORTEST or any(map(str.isdigit, word))
    )
    return tuple(words)[:MAX_REQUEST_WORDS]


def weight_of(word: str, found: int, places: int) -> float:
    """What a word counts that is found in so many of the places."""
    return rarity(found, places) * min(len(word), _FULL_LENGTH) / _FULL_LENGTH


def rarity(found: int, places: int) -> float:
    """High for what is found in few of the places."""
    return math.log((places + 1) / (found + 0.5))


def stems_of(places: Mapping[str, Mapping[int, float]]) -> Mapping[str, Sequence[str]]:
    """The words by their beginning."""
    stems: dict[str, list[str]] = defaultdict(list)
    for word in places:
        if len(word) >= _STEM and not word.isdigit():
            stems[word[:_STEM]].append(word)
    return stems


def found_in(
    word: str, places: Mapping[str, Mapping[int, float]], stems: Mapping[str, Sequence[str]]
) -> Mapping[int, float]:
    """The places with this word or one nearly equal, and how much it counts there."""
    found = dict(places.get(word, {}))
    if len(word) < _STEM or word.isdigit():
        return found
    for other in stems.get(word[:_STEM], ()):
        if other == word or not are_nearly_equal(word, other):
            continue
        for place, weight in places[other].items():
            found[place] = max(found.get(place, 0.0), _NEARLY * weight)
    return found


def are_nearly_equal(word: str, other: str) -> bool:
    """Whether two words without digits have a beginning in common that is most of the shorter one."""
    enough = max(_STEM, math.ceil(_STEM_SHARE * min(len(word), len(other))))
    return not word.isdigit() and not other.isdigit() and _common(word, other) >= enough


def is_same(word: str, other: str) -> bool:
    """Whether these are one word without digits, perhaps with another ending."""
    shorter, longer = sorted((word, other), key=len)
    ending = len(longer) - len(shorter)
    return (
        len(shorter) >= _WHOLE_STEM
        and longer.isalpha()
        and longer.startswith(shorter)
        and ending <= min(len(shorter) - _WHOLE_STEM + 1, _INFLECTION)
    )


def is_said(text: str, words: Collection[str], telling_chars: int) -> bool:
    """Whether one of these words is a word or number of the text, perhaps with another ending. Words of the text with fewer than so many characters count only
    where it has no others."""
    written = set(words_to_match(text))
    telling = {word for word in written if len(word) >= telling_chars or word.isdigit()} or written
    return any(_are_alike(one, other) for one in telling for other in words)


def _are_alike(one: str, other: str) -> bool:
    """Whether these are one word or number, perhaps with another ending, or with the zeros of "243 thousand"."""
    if one.isdigit() and other.isdigit():
        shorter, longer = sorted((one, other), key=len)
        return longer.startswith(shorter) and not longer[len(shorter) :].strip("0")
    return one == other or is_same(one, other) or are_nearly_equal(one, other)


def _common(one: str, other: str) -> int:
    """How many characters two words share from their beginning."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count
