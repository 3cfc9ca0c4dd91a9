"""Ranks described things by how near a query is to what is said of them: by meaning and words, or words alone."""

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final

from aeond.frozen import frozen
from aeond.orchestration.matching.word_ranking import word_scores
from aeond.ports.embedding import MAX_TEXTS, Embedder, cosine

BEST_TEXTS: Final = 3  # of all that is said of a thing, so many of the nearest texts count
WORDS_WEIGHT: Final = 0.4  # of the score by words, added to the cosine
MAX_CACHED: Final = 2_048
MAX_QUERY_CHARS: Final = 600


@frozen
class Described:
    """A name, and the texts that say what it stands for."""

    name: str
    texts: tuple[str, ...]


@frozen
class Ranking:
    """Names with their scores, the best first; `by_meaning` tells which scale the scores are on.

    By words: the part of the query that was found, 0 to 1. By meaning: the mean cosine of the nearest texts, and
    WORDS_WEIGHT of the score by words.
    """

    scores: tuple[tuple[str, float], ...]
    by_meaning: bool


class TextRanking:
    """Ranks over one Embedder; keeps the vectors of described texts, not those of queries."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[tuple[str, str], Sequence[float]] = OrderedDict()

    async def rank(self, query: str, described: Sequence[Described], best: int = BEST_TEXTS) -> Ranking:
        """All of them by the mean of their `best` nearest texts; of equal scores the one that comes first."""
        query = query[:MAX_QUERY_CHARS]
        scores = word_scores(query, [one.texts for one in described])
        cosines = await self._cosines(query, described, best)
        by_meaning = cosines is not None
        if cosines is not None:
            pairs = zip(cosines, scores, strict=True)
            scores = [near + WORDS_WEIGHT * common for near, common in pairs]
        ranked = sorted(zip(described, scores, strict=True), key=lambda pair: -pair[1])
        return Ranking(tuple((one.name, score) for one, score in ranked), by_meaning)

    async def _cosines(self, query: str, described: Sequence[Described], best: int) -> list[float] | None:
        """None without vectors."""
        if not self._embedder.available or not described:
            return None
        texts = dict.fromkeys(text for one in described for text in one.texts)
        known = await self._known(texts)
        if known is None:
            return None
        found = await self._embedder.embed([query])
        if not found:
            return None
        near = {text: cosine(found[0], vector) for text, vector in known.items()}
        return [_mean_of_best((near[text] for text in one.texts), best) for one in described]

    async def _known(self, texts: Iterable[str]) -> dict[str, Sequence[float]] | None:
        """The vectors of these texts, computed for those that are new; None without vectors."""
        name = self._embedder.name
        known = {text: self._vectors[name, text] for text in texts if (name, text) in self._vectors}
        new = [text for text in texts if text not in known]
        for start in range(0, len(new), MAX_TEXTS):
            part = new[start : start + MAX_TEXTS]
            vectors = await self._embedder.embed(part)
            if not vectors:
                return None
            known |= {text: array("f", vector) for text, vector in zip(part, vectors, strict=True)}
        for text, vector in known.items():
            self._vectors[name, text] = vector
            self._vectors.move_to_end((name, text))
        while len(self._vectors) > MAX_CACHED:
            self._vectors.popitem(last=False)
        return known


def _mean_of_best(scores: Iterable[float], best: int) -> float:
    nearest = sorted(scores, reverse=True)[:best]
    return sum(nearest) / len(nearest) if nearest else 0.0
