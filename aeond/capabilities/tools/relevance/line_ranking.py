"""Orders lines by what they share with a request: rare words count most, and words with a common beginning count as
nearly equal, so that endings and slips of the pen matter little. Nothing here depends on a language.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from aeond.domain.names import words_of
from aeond.frozen import frozen

MAX_REQUEST_WORDS: Final = 60
_SHORTEST: Final = 3  # characters of a word that counts; numbers count at any length
_STEM: Final = 4  # characters that two words share at least to be nearly equal
_STEM_SHARE: Final = 0.7  # of the shorter word
_NEARLY: Final = 0.8  # weight of a word that is nearly equal
_FULL_LENGTH: Final = 8  # characters from which a word has its full weight
_IN_PATH: Final = 0.5  # weight of a word in the path of the file
_LEAST: Final = 0.45  # score of a line that is shown, as a share of that of one word that is in no other line
_OF_BEST: Final = 0.45  # score of a line that is shown, as a share of the best one's


@frozen
class Line:
    """A line of a file; `number` counts from 1."""

    path: str
    number: int
    text: str


def rank(request: str, lines: Sequence[Line], most: int, per_file: int) -> tuple[Line, ...]:
    """At most `most` lines that share something rare with the request, the best first, at most `per_file` of a
    file."""
    places = _places(lines)
    stems = _stems(places)
    scores: dict[int, float] = defaultdict(float)
    for word in _words_that_count(request):
        found = _found(word, places, stems)
        if not found:
            continue
        weight = _rarity(len(found), len(lines)) * min(len(word), _FULL_LENGTH) / _FULL_LENGTH
        for place, likeness in found.items():
            scores[place] += weight * likeness
    ranked = sorted(scores, key=lambda place: (-scores[place], place))
    rarest = _rarity(1, len(lines))
    least = max(_LEAST * rarest, _OF_BEST * scores[ranked[0]]) if ranked else 0.0
    chosen: list[Line] = []
    taken: dict[str, int] = defaultdict(int)
    for place in ranked:
        line = lines[place]
        if scores[place] < least or len(chosen) == most:
            break
        if taken[line.path] < per_file:
            taken[line.path] += 1
            chosen.append(line)
    return tuple(chosen)


def _rarity(found: int, lines: int) -> float:
    return math.log((lines + 1) / (found + 0.5))


def _words_that_count(request: str) -> tuple[str, ...]:
    words = dict.fromkeys(
        word for word in words_of(request) if len(word) >= _SHORTEST or any(map(str.isdigit, word))
    )
    return tuple(words)[:MAX_REQUEST_WORDS]


def _places(lines: Sequence[Line]) -> Mapping[str, Mapping[int, float]]:
    """For each word the lines that it stands in, with its weight there."""
    places: dict[str, dict[int, float]] = defaultdict(dict)
    in_paths: dict[str, tuple[str, ...]] = {}
    for place, line in enumerate(lines):
        if line.path not in in_paths:
            in_paths[line.path] = words_of(line.path)
        for word in in_paths[line.path]:
            places[word][place] = _IN_PATH
        for word in words_of(line.text):
            places[word][place] = 1.0
    return places


def _stems(places: Mapping[str, Mapping[int, float]]) -> Mapping[str, Sequence[str]]:
    stems: dict[str, list[str]] = defaultdict(list)
    for word in places:
        if len(word) >= _STEM and not word.isdigit():
            stems[word[:_STEM]].append(word)
    return stems


def _found(
    word: str, places: Mapping[str, Mapping[int, float]], stems: Mapping[str, Sequence[str]]
) -> Mapping[int, float]:
    """The lines with this word or one nearly equal, and how much it counts there."""
    found = dict(places.get(word, {}))
    if len(word) < _STEM or word.isdigit():
        return found
    for other in stems.get(word[:_STEM], ()):
        shorter = min(len(word), len(other))
        if other == word or _common(word, other) < max(_STEM, math.ceil(_STEM_SHARE * shorter)):
            continue
        for place, weight in places[other].items():
            found[place] = max(found.get(place, 0.0), _NEARLY * weight)
    return found


def _common(one: str, other: str) -> int:
    """How many characters two words share from their beginning."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count
