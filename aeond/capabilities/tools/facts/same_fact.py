"""Finds the keys that name the same fact as another key in other words.

Two keys name one fact only if form and meaning agree: the words of one are the words of the other in the same order,
or as two blocks that changed places, apart from a few short words; and the vectors are nearly the same. Form alone
cannot tell "gate code" from "old gate code", and meaning alone cannot tell "left shoe size" from "right shoe size".
The threshold was measured on tests/support/fact_keys.py. Without vectors no key is the same.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.names import words_of
from aeond.errors import AeondError
from aeond.ports.embedding import Embedder, cosine

LEAST_COSINE: Final = 0.94
MAX_WORDS: Final = 5  # of the shorter key: in long texts one word changes too little
MAX_EXTRA_CHARS: Final = 3  # of a word that only one of the keys has
MAX_KEYS: Final = 16


async def same_facts(embedder: Embedder, key: str, others: Sequence[str]) -> tuple[str, ...]:
    """The keys that name the same fact."""
    alike = [other for other in others if alike_in_form(key, other)][:MAX_KEYS]
    if not alike or not embedder.available:
        return ()
    try:
        vectors = await embedder.embed([key, *alike])
    except AeondError:  # too busy, or damaged weights: nothing is the same
        return ()
    close = zip(alike, vectors[1:], strict=False)
    return tuple(other for other, vector in close if cosine(vectors[0], vector) >= LEAST_COSINE)


def alike_in_form(key: str, other: str) -> bool:
    """Whether the words of one are those of the other, apart from short ones, in order or with two blocks swapped."""
    short, long = sorted((words_of(key), words_of(other)), key=len)
    extra = [word for word in long if word not in short]
    shared = tuple(word for word in long if word in short)
    return (
        0 < len(short) <= MAX_WORDS
        and len(extra) > 0
        and all(len(word) <= MAX_EXTRA_CHARS and word.isalpha() for word in extra)
        and any(shared == (*short[at:], *short[:at]) for at in range(len(short)))
    )
