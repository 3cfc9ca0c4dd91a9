"""Finds the files that a request is about, by the words that it shares with names and contents.

A small model chooses the right file less often: ADR 0106 has the measurements.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from aeond.capabilities.tools.relevance.shared_words import found_in, stems_of, weight_of, words_that_count
from aeond.domain.names import words_to_match

_IN_NAME: Final = 2.0  # weight of a word in the name of the file
_NAMED: Final = 4.0  # score of a file whose whole name the request has
_LEAST: Final = 1.4  # score of the file that is probably meant
_MOST: Final = 2
_OF_BEST: Final = 0.5  # score of another file, as a share of the best one's
_MEANING: Final = 6.0  # weight of a cosine; from 3 to 10 hardly another file comes first


def nearest_files(
    request: str, texts: Mapping[str, str], meanings: Mapping[str, float] | None = None
) -> tuple[str, ...]:
    """The paths of at most _MOST files that share most with the request, the nearest first; none where they share too little. `texts`
    are contents, or their beginnings, by path; `meanings` are cosines, as far as they are known."""
    paths = sorted(texts)
    places: dict[str, dict[int, float]] = defaultdict(dict)
    for place, path in enumerate(paths):
        folder, _, name = path.rpartition("/")
        for text, weight in ((texts[path], 1.0), (folder, 1.0), (name, _IN_NAME)):
            for word in words_to_match(text):
                places[word][place] = max(weight, places[word].get(place, 0.0))
    stems = stems_of(places)
    scores: dict[int, float] = defaultdict(float)
    for word in words_that_count(request):
        found = found_in(word, places, stems)
        for place, likeness in found.items():
            scores[place] += weight_of(word, len(found), len(paths)) * likeness
    for place, path in enumerate(paths):
        name = re.escape(path.rpartition("/")[2])
        if re.search(rf"(?<![\w.-]){name}(?![\w-])", request, re.IGNORECASE):
            scores[place] += _NAMED
    for place, path in enumerate(paths):
        scores[place] += _MEANING * (meanings or {}).get(path, 0.0)
    ranked = sorted(scores, key=lambda place: -scores[place])[:_MOST]
    best = scores[ranked[0]] if ranked else 0.0
    return tuple(paths[one] for one in ranked if best >= _LEAST and scores[one] >= _OF_BEST * best)
