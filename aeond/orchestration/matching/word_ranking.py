"""BM25 over words, for a machine without the embedding model.

Only equal words count: `summaries` does not find `summary`. docs/subtasks.md has the measured difference.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_K1: Final = 1.2
_B: Final = 0.75


def word_scores(query: str, documents: Sequence[Sequence[str]]) -> list[float]:
    """For each document, given as its texts, how much of the query it has: 0 for nothing, below 1 for all."""
    counts = [Counter(_words(" ".join(texts))) for texts in documents]
    wanted = set(_words(query))
    if not wanted or not counts:
        return [0.0] * len(counts)
    mean_length = sum(map(Counter.total, counts)) / len(counts) or 1.0
    weights = {word: _rarity(sum(word in count for count in counts), len(counts)) for word in wanted}
    highest = sum(weights.values()) * (_K1 + 1)
    return [
        sum(weights[word] * _saturated(count[word], count.total() / mean_length) for word in wanted) / highest
        for count in counts
    ]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _rarity(documents_with: int, documents: int) -> float:
    return math.log(1.0 + (documents - documents_with + 0.5) / (documents_with + 0.5))


def _saturated(times: int, relative_length: float) -> float:
    return times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * relative_length))
