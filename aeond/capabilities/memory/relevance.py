"""How much a fact has to do with a query: by its words, by parts of words, and by meaning where that is known.

Rare words count more than common ones, by how often they occur among the facts themselves: no list of words of
any language is needed. Parts of words (three letters each) find inflected words and texts without spaces.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aeond.domain.facts import Fact
from aeond.domain.names import folded, words_of
from aeond.domain.values import JsonValue
from aeond.frozen import frozen

MAX_TEXT_CHARS: Final = 2_000
MAX_QUERY_WORDS: Final = 40

_PART_CHARS: Final = 3
_VALUE_WEIGHT: Final = 0.7  # of a word that stands in the value alone
_BY_WORDS: Final = 0.7  # the share of words, the rest is by parts of words
_BY_MEANING: Final = 0.5  # the share of meaning where it is known


@frozen
class FactText:
    """The words of a fact, as they are compared. `plain` has those whose parts count, each between two spaces."""

    key: str
    key_words: tuple[str, ...]
    value_words: tuple[str, ...]
    plain: str

    def has_part(self, part: str) -> bool:
        """Whether it is one of `parts_of` the words: a look into the text takes a hundredth of a set of them all."""
        return (part if len(part) == _PART_CHARS else f" {part} ") in self.plain


def fact_text(key: str, value: JsonValue) -> FactText:
    key_words = words_of(key)
    value_words = words_of(plain_text(value, MAX_TEXT_CHARS))
    return FactText(key, key_words, value_words, f" {' '.join(_plain((*key_words, *value_words)))} ")


def plain_text(value: JsonValue, most: int | None = None) -> str:
    """The texts and numbers in a value, with the names of its fields: so many characters from the beginning, or all."""
    texts: list[str] = []
    size = 0
    for text in _texts(value):
        texts.append(text)
        size += len(text) + 1
        if most is not None and size > most:
            break
    return " ".join(texts)[:most]


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield name
            yield from _texts(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from _texts(part)
    elif value is not None:
        yield str(value)


def parts_of(text: str) -> frozenset[str]:
    """Every three letters in a row, within words of four and more and of texts without spaces."""
    return _parts(words_of(folded(text)))


def _parts(words: Sequence[str]) -> frozenset[str]:
    return frozenset(
        word[place : place + _PART_CHARS]
        for word in _plain(words)
        for place in range(max(len(word) - _PART_CHARS + 1, 1))
    )


def _plain(words: Sequence[str]) -> Sequence[str]:
    # Folded again: what folding leaves of a letter like \U0001d400 can be folded further.
    text = " ".join(words)
    return text.lower().split() if text.isascii() else words_of(folded(text))


def relevance(query: str, facts: Sequence[FactText], meanings: Mapping[str, float]) -> dict[str, float]:
    """The relevance of each fact, from 0 to 1, by its key. `meanings` are cosines by key, as far as known."""
    words = tuple(dict.fromkeys(words_of(query)))[:MAX_QUERY_WORDS]
    counts = Counter(word for fact in facts for word in {*fact.key_words, *fact.value_words})
    weights = {word: math.log(1 + len(facts) / counts[word]) for word in words if counts[word]}
    whole = sum(weights.values())
    asked = _parts(words)
    scores = {}
    for fact in facts:
        by_words = sum(weight * _presence(word, fact) for word, weight in weights.items()) / (whole or 1.0)
        by_parts = sum(map(fact.has_part, asked)) / (len(asked) or 1)
        score = _BY_WORDS * by_words + (1 - _BY_WORDS) * by_parts
        if fact.key in meanings:
            meaning = max(meanings[fact.key], 0.0)
            score = max(score, (1 - _BY_MEANING) * score + _BY_MEANING * meaning)
        scores[fact.key] = min(score, 1.0)
    return scores


def _presence(word: str, fact: FactText) -> float:
    if word in fact.key_words:
        return 1.0
    return _VALUE_WEIGHT if word in fact.value_words else 0.0


def ranked(
    query: str, facts: Sequence[tuple[str, JsonValue]], meanings: Mapping[str, float], limit: int
) -> list[Fact]:
    """The best facts first; those with a score of 0 only where there are no more than `limit` in all."""
    scores = relevance(query, [fact_text(key, value) for key, value in facts], meanings)
    best = sorted(facts, key=lambda fact: (-scores[fact[0]], fact[0]))
    return [
        Fact(key, value, scores[key]) for key, value in best[:limit] if scores[key] > 0 or len(facts) <= limit
    ]
