"""Guarantees of every embedder: the test double and the real model."""

import math
from collections.abc import AsyncIterator

import anyio
import pytest

from aeond.errors import InvalidInputError
from aeond.ports.embedding import MAX_TEXT_CHARS, MAX_TEXTS, Embedder, Vector, cosine, nearest
from tests.support.embedders import WordEmbedder, real_embedder

PARAPHRASES = (
    ("a man is eating food", "a man is eating a meal", "the train to the coast was late"),
    ("sum up this report", "write a summary of this report", "paint the garden fence"),
    ("when is the invoice due", "the date on which the invoice is due", "two cats sleep on a sofa"),
)


@pytest.fixture(params=["words", pytest.param("minilm", marks=pytest.mark.model)])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param == "words":
        yield WordEmbedder()
        return
    async with real_embedder() as embedder:
        yield embedder


async def one(embedder: Embedder, text: str) -> Vector:
    """The vector of one text."""
    (vector,) = await embedder.embed([text])
    return vector


def near(one: Vector, other: Vector) -> bool:
    """Whether two vectors are equal up to rounding."""
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) < 1e-5


@pytest.mark.parametrize("text", ["", " ", "hello", "日本語", "\x00\x01", "a" * 10_000, "no words: ¿?!…"])
async def test_every_text_has_a_unit_vector(embedder: Embedder, text: str) -> None:
    """Any text, also one without a word, has a finite vector of length 1, and all vectors have the same dimensions."""
    vector = await one(embedder, text)
    assert len(vector) == len(await one(embedder, "another text"))
    assert math.isclose(sum(value * value for value in vector), 1.0, abs_tol=1e-5)


async def test_equal_texts_have_equal_vectors(embedder: Embedder) -> None:
    """The same text has the same vector, as often as it is asked for."""
    assert await one(embedder, "the same text") == await one(embedder, "the same text")


async def test_a_text_has_the_same_vector_alone_and_among_others(embedder: Embedder) -> None:
    """Batching changes no vector, and vectors come in the order of the texts."""
    texts = [f"text {number} " + "and more words " * (number % 7) for number in range(40)]
    together = await embedder.embed(texts)
    for text, vector in list(zip(texts, together, strict=True))[::9]:
        assert near(await one(embedder, text), vector)


@pytest.mark.parametrize(("text", "same", "other"), PARAPHRASES)
async def test_paraphrases_are_nearer_than_other_texts(
    embedder: Embedder, text: str, same: str, other: str
) -> None:
    """A text is nearer to another wording of it than to a text about something else."""
    vectors = await embedder.embed([same, text, other])
    assert cosine(vectors[1], vectors[0]) > cosine(vectors[1], vectors[2]) + 0.1
    assert [place for place, _ in nearest(vectors[1], [vectors[2], vectors[0]], 2)] == [1, 0]


async def test_only_the_beginning_of_a_long_text_counts(embedder: Embedder) -> None:
    """Text beyond the limit changes nothing."""
    long = "word " * (MAX_TEXT_CHARS // 5)
    assert near(await one(embedder, long), await one(embedder, long + "a different end"))


async def test_too_many_texts_are_refused(embedder: Embedder) -> None:
    """More texts than the bound are refused as a whole; no texts have no vectors."""
    assert await embedder.embed([]) == ()
    with pytest.raises(InvalidInputError) as refused:
        await embedder.embed(["x"] * (MAX_TEXTS + 1))
    assert refused.value.reason == "TOO_MANY_TEXTS"


async def test_a_cancelled_call_leaves_the_embedder_usable(embedder: Embedder) -> None:
    """A call can be cancelled while it computes; the next one is answered."""
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(embedder.embed, ["words of a long text " * 50] * 64)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
    assert len(await embedder.embed(["after that"])) == 1


@pytest.mark.model
async def test_the_real_model_knows_synonyms() -> None:
    """Texts without a word in common are near each other if they mean the same."""
    async with real_embedder() as embedder:
        vectors = await embedder.embed(["remove the picture", "delete a photo", "compute interest rates"])
    assert cosine(vectors[0], vectors[1]) > 0.5
    assert cosine(vectors[0], vectors[2]) < 0.2
