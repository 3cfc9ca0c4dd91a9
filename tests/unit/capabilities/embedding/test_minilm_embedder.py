"""The embedder's files: missing, damaged, loaded when needed and unloaded when idle. The weights are random."""

import math
import os
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from aeond.capabilities.embedding.minilm_embedder import MiniLmEmbedder, WeightFiles
from aeond.errors import OverloadedError
from tests.support.doubles import ManualClock
from tests.support.embedders import write_random_weights


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> WeightFiles:
    return WeightFiles(*write_random_weights(tmp_path_factory.mktemp("weights")))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def embedder(files: WeightFiles, clock: ManualClock) -> AsyncIterator[MiniLmEmbedder]:
    async with MiniLmEmbedder(lambda: files, clock, idle_seconds=60.0) as embedder:
        yield embedder


def is_loaded(embedder: MiniLmEmbedder) -> bool:
    """As a call, so that type checkers expect another answer each time."""
    return embedder._model is not None


def is_available(embedder: MiniLmEmbedder) -> bool:
    """The same."""
    return embedder.available


async def test_the_model_is_loaded_with_the_first_text(embedder: MiniLmEmbedder) -> None:
    """Before anything is embedded, and for no texts at all, nothing is loaded."""
    assert is_available(embedder)
    assert await embedder.embed([]) == ()
    assert not is_loaded(embedder)
    vectors = await embedder.embed(["red apple"])
    assert is_loaded(embedder)
    assert math.isclose(sum(value * value for value in vectors[0]), 1.0, abs_tol=1e-5)


async def test_the_model_is_unloaded_when_idle(embedder: MiniLmEmbedder, clock: ManualClock) -> None:
    """After the idle time without a text the memory is given back; the next text loads the model again."""
    first = await embedder.embed(["red apple"])
    await anyio.wait_all_tasks_blocked()
    clock.advance(59.0)
    await anyio.wait_all_tasks_blocked()
    assert is_loaded(embedder)
    clock.advance(2.0)
    await anyio.wait_all_tasks_blocked()
    assert not is_loaded(embedder)
    assert await embedder.embed(["red apple"]) == first


async def test_a_text_puts_the_unloading_off(embedder: MiniLmEmbedder, clock: ManualClock) -> None:
    """The idle time counts from the last text."""
    await embedder.embed(["red"])
    clock.advance(50.0)
    await embedder.embed(["blue"])
    await anyio.wait_all_tasks_blocked()
    clock.advance(50.0)
    await anyio.wait_all_tasks_blocked()
    assert is_loaded(embedder)


async def test_missing_files_give_no_vectors(clock: ManualClock) -> None:
    """Without the weights the state says so and texts have no vectors; that is no error."""
    async with MiniLmEmbedder(lambda: None, clock) as embedder:
        assert not is_available(embedder)
        assert await embedder.embed(["red"]) == ()


async def test_files_that_arrive_later_are_used(files: WeightFiles, clock: ManualClock) -> None:
    """An embedder that found nothing looks again with the next text."""
    found: list[WeightFiles] = []
    async with MiniLmEmbedder(lambda: found[0] if found else None, clock) as embedder:
        assert await embedder.embed(["red"]) == ()
        found.append(files)
        assert is_available(embedder)
        assert len(await embedder.embed(["red"])) == 1


@pytest.mark.parametrize("damage", ["no header", "cut off", "another model", "no vocabulary"])
async def test_damaged_files_count_as_missing_until_they_change(
    files: WeightFiles, tmp_path: Path, clock: ManualClock, damage: str
) -> None:
    """A file that cannot be loaded makes the embedder unavailable; a repaired file is loaded."""
    whole = files.weights.read_bytes()
    broken = {
        "no header": b"\xff" * 100,
        "cut off": whole[: len(whole) // 2],
        "another model": whole.replace(b"encoder.layer.3", b"encoder.layer.9"),
        "no vocabulary": whole,
    }
    weights, vocabulary = tmp_path / "weights", tmp_path / "vocabulary"
    weights.write_bytes(broken[damage])
    words = files.vocabulary.read_bytes()
    vocabulary.write_bytes(b"nothing" if damage == "no vocabulary" else words)
    async with MiniLmEmbedder(lambda: WeightFiles(weights, vocabulary), clock) as embedder:
        assert is_available(embedder)
        assert await embedder.embed(["red"]) == ()
        assert not is_available(embedder)
        assert await embedder.embed(["red"]) == ()
        weights.write_bytes(whole)
        vocabulary.write_bytes(words)
        os.utime(weights, ns=(1, 1))
        assert is_available(embedder)
        assert len(await embedder.embed(["red"])) == 1


async def test_a_file_that_shrinks_under_the_model_makes_it_unavailable(
    files: WeightFiles, tmp_path: Path, clock: ManualClock
) -> None:
    """A truncated file costs the vectors and not the process."""
    weights = tmp_path / "weights"
    weights.write_bytes(files.weights.read_bytes())
    async with MiniLmEmbedder(lambda: WeightFiles(weights, files.vocabulary), clock) as embedder:
        assert len(await embedder.embed(["red"])) == 1
        os.truncate(weights, 100)
        assert await embedder.embed(["blue apple"]) == ()
        assert not is_loaded(embedder)


async def test_calls_beyond_the_bound_are_refused(embedder: MiniLmEmbedder) -> None:
    """At most 64 calls wait; the next fails at once and the others are answered."""
    answered: list[int] = []

    async def ask() -> None:
        answered.append(len(await embedder.embed(["red"])))

    async with anyio.create_task_group() as tasks:
        for _ in range(64):
            tasks.start_soon(ask)
        await checkpoint()
        with pytest.raises(OverloadedError) as refused:
            await embedder.embed(["one more"])
    assert refused.value.reason == "EMBEDDER_BUSY"
    assert answered == [1] * 64
