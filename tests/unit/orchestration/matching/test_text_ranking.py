"""Ranking by meaning and, without vectors, by words."""

import pytest

from aeond.orchestration.matching import text_ranking
from aeond.orchestration.matching.text_ranking import Described, TextRanking
from aeond.orchestration.matching.word_ranking import word_scores
from tests.support.embedders import WordEmbedder

GARDEN = Described("garden", ("water the plants", "cut the hedge", "plant tulips", "an old hat"))
KITCHEN = Described("kitchen", ("cook a soup", "bake bread"))


async def test_the_nearest_comes_first() -> None:
    """All names are ranked, the one with the nearest texts first."""
    ranking = await TextRanking(WordEmbedder()).rank("cook some soup", [GARDEN, KITCHEN])
    assert [name for name, _ in ranking.scores] == ["kitchen", "garden"]
    assert ranking.by_meaning
    assert ranking.scores[0][1] > ranking.scores[1][1]


async def test_only_the_nearest_texts_of_a_thing_count() -> None:
    """A fourth text about something else lowers no score."""
    ranking = TextRanking(WordEmbedder())
    without = Described("garden", GARDEN.texts[:3])
    scores = [(await ranking.rank("water the plants", [one])).scores[0][1] for one in (GARDEN, without)]
    assert scores[0] == pytest.approx(scores[1], abs=0.1)


async def test_described_texts_are_embedded_once() -> None:
    """From the second ranking on, only the query is embedded."""
    embedder = WordEmbedder()
    ranking = TextRanking(embedder)
    await ranking.rank("soup", [GARDEN, KITCHEN])
    embedder.calls.clear()
    await ranking.rank("bread", [KITCHEN, GARDEN])
    assert embedder.calls == [("bread",)]


async def test_kept_vectors_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more texts than are kept, the longest unused ones are embedded again."""
    monkeypatch.setattr(text_ranking, "MAX_CACHED", 2)
    embedder = WordEmbedder()
    ranking = TextRanking(embedder)
    for described in (GARDEN, KITCHEN):
        await ranking.rank("soup", [described])
    embedder.calls.clear()
    await ranking.rank("soup", [KITCHEN])
    assert embedder.calls == [("soup",)]
    await ranking.rank("soup", [GARDEN])
    assert GARDEN.texts in embedder.calls


async def test_vectors_of_another_model_are_not_compared() -> None:
    """A change of the model's name makes all texts be embedded again."""
    embedder = WordEmbedder()
    ranking = TextRanking(embedder)
    await ranking.rank("soup", [KITCHEN])
    embedder.name = "another"
    embedder.calls.clear()
    await ranking.rank("soup", [KITCHEN])
    assert KITCHEN.texts in embedder.calls


async def test_without_vectors_words_are_compared() -> None:
    """Where the embedder has no weights, the ranking is by equal words and says so."""
    embedder = WordEmbedder(available=False)
    ranking = await TextRanking(embedder).rank("please bake bread", [GARDEN, KITCHEN])
    assert not ranking.by_meaning
    assert ranking.scores[0][0] == "kitchen"
    assert ranking.scores[1] == ("garden", 0.0)
    assert not embedder.calls


async def test_vectors_that_fail_on_the_way_fall_back_to_words() -> None:
    """An embedder that seemed available and has nothing costs the meaning and not the ranking."""
    embedder = WordEmbedder()
    embedder.gives = False
    ranking = await TextRanking(embedder).rank("bread", [GARDEN, KITCHEN])
    assert not ranking.by_meaning
    assert ranking.scores[0][0] == "kitchen"


async def test_nothing_to_rank_is_an_empty_ranking() -> None:
    """No described things have no scores; a thing without texts has the score 0."""
    ranking = TextRanking(WordEmbedder())
    assert (await ranking.rank("soup", [])).scores == ()
    assert (await ranking.rank("soup", [Described("bare", ())])).scores == (("bare", 0.0),)


def test_words_score_by_how_much_of_the_query_they_cover() -> None:
    """Rare words weigh more than words that every document has; case and punctuation do not count."""
    documents = (("the red apple",), ("the green pear",), ("the sea",))
    apple, pear, sea = word_scores("The APPLE!", documents)
    assert 1.0 > apple > pear > 0.0
    assert pear > 0.0
    assert sea > 0.0
    assert word_scores("", documents) == [0.0, 0.0, 0.0]
    assert word_scores("?!", documents) == [0.0, 0.0, 0.0]
    assert word_scores("apple", [(), ()]) == [0.0, 0.0]
    assert word_scores("apple", []) == []
