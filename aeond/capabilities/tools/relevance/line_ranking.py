"""Orders lines by the words that they share with a request."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from aeond.capabilities.tools.relevance.shared_words import (
    found_in,
    rarity,
    stems_of,
    weight_of,
    words_that_count,
)
from aeond.domain.names import words_to_match
from aeond.frozen import frozen

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
    stems = stems_of(places)
    scores: dict[int, float] = defaultdict(float)
    for word in words_that_count(request):
        found = found_in(word, places, stems)
        if not found:
            continue
        weight = weight_of(word, len(found), len(lines))
        for place, likeness in found.items():
            scores[place] += weight * likeness
    ranked = sorted(scores, key=lambda place: (-scores[place], place))
    rarest = rarity(1, len(lines))
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


def _places(lines: Sequence[Line]) -> Mapping[str, Mapping[int, float]]:
    """For each word the lines that it stands in, with its weight there."""
    places: dict[str, dict[int, float]] = defaultdict(dict)
    in_paths: dict[str, tuple[str, ...]] = {}
    for place, line in enumerate(lines):
        if line.path not in in_paths:
            in_paths[line.path] = words_to_match(line.path)
        for word in in_paths[line.path]:
            places[word][place] = _IN_PATH
        for word in words_to_match(line.text):
            places[word][place] = 1.0
    return places
