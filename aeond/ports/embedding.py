"""Text as vectors, so that texts can be compared by meaning."""

from collections.abc import Sequence
from operator import mul
from typing import Protocol

from typing_extensions import TypeAliasType

Vector = TypeAliasType("Vector", tuple[float, ...])

MAX_TEXTS = 512
MAX_TEXT_CHARS = 4_000


class Embedder(Protocol):
    """Maps texts to unit vectors; texts of similar meaning have a high cosine.

    The weights are optional. While they are missing or damaged, `available` is False and `embed` returns ();
    the caller then compares words.
    """

    @property
    def available(self) -> bool:
        """Whether `embed` is expected to return vectors. Costs no more than a look for a file."""

    @property
    def name(self) -> str:
        """Identifies the model: vectors kept from a model of another name must not be compared."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One unit vector for each text, in order, or () if there are no weights or no texts.

        Equal texts have equal vectors, alone or among others, up to rounding (1e-5). Of a long text only the
        beginning counts: at most MAX_TEXT_CHARS characters, and fewer if the model reads less. A text without
        any word has a vector too. Raises InvalidInputError (reason TOO_MANY_TEXTS) for more than MAX_TEXTS.
        Work runs in a thread; a cancelled call stops within 200 ms.
        """


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The similarity of two unit vectors, -1 to 1."""
    total: float = sum(map(mul, one, other))
    return total


def nearest(
    query: Sequence[float], vectors: Sequence[Sequence[float]], limit: int
) -> list[tuple[int, float]]:
    """The places of the `limit` vectors nearest to the query with their cosines, the nearest first; of equal
    ones the earlier."""
    scored = [(place, cosine(query, vector)) for place, vector in enumerate(vectors)]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:limit]
