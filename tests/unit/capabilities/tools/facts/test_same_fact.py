"""Keys that name one fact in different words."""

from collections.abc import Sequence

import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.tools.facts.same_fact import LEAST_COSINE, alike_in_form, same_facts
from aeond.domain.names import same_form
from aeond.errors import OverloadedError
from aeond.ports.embedding import Vector, cosine
from tests.support.embedders import WordEmbedder, real_embedder
from tests.support.fact_keys import DIFFERENT, SAME


class OneMeaning(WordEmbedder):
    """All texts mean the same."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        return tuple((1.0, 0.0) for _ in texts)


class Busy(WordEmbedder):
    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        raise OverloadedError("too many texts at once: try again later", reason="EMBEDDER_BUSY")


@pytest.mark.parametrize(
    ("key", "other", "alike"),
    [
        ("gate code", "code of the gate", True),
        ("gate code", "the gate code", True),
        ("car licence plate", "licence plate of the car", True),
        ("gate code", "gate code", False),  # the store finds equal names
        ("gate code", "garage code", False),
        ("Anna's debt to Paul", "Paul's debt to Anna", False),
        ("code", "code 2", False),
        ("code", "code of the cellar", False),
        ("a b c d e f", "a b c d e f to", False),
        ("", "to", False),
    ],
)
def test_form_allows_short_words_and_swapped_blocks(key: str, other: str, alike: bool) -> None:
    """Only short words may be added and only two blocks may change places; digits and long keys must be equal."""
    assert alike_in_form(key, other) is alike
    assert alike_in_form(other, key) is alike


async def test_form_and_meaning_must_agree() -> None:
    """Keys of the same meaning in another form are different facts, and so is everything without vectors."""
    others = ["code of the gate", "garage code"]
    assert await same_facts(OneMeaning(), "gate code", others) == ("code of the gate",)
    assert await same_facts(NoEmbedder(), "gate code", others) == ()
    assert await same_facts(Busy(), "gate code", others) == ()


def test_the_pairs_are_many_and_mostly_different() -> None:
    """At least forty pairs are measured, half of them or more of different facts, and no pair is in both lists."""
    assert len(SAME) + len(DIFFERENT) >= 40
    assert len(DIFFERENT) >= len(SAME)
    assert not {frozenset(pair) for pair in SAME} & {frozenset(pair) for pair in DIFFERENT}


@pytest.mark.model
async def test_no_different_fact_is_the_same() -> None:
    """Of 45 pairs in other words 18 are found the same, of 95 pairs of different facts none; 0.02 below the
    threshold it would still be none."""
    async with real_embedder() as embedder:
        found = [pair for pair in SAME if same_form(*pair) or await same_facts(embedder, pair[0], [pair[1]])]
        wrong = [
            pair for pair in DIFFERENT if same_form(*pair) or await same_facts(embedder, pair[0], [pair[1]])
        ]
        close = [pair for pair in DIFFERENT if alike_in_form(*pair)]
        vectors = await embedder.embed([key for pair in close for key in pair])
    assert wrong == []
    assert len(found) >= 18
    assert max(map(cosine, vectors[::2], vectors[1::2])) < LEAST_COSINE - 0.02
