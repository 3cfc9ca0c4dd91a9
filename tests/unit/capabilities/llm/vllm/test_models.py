"""Models in the form that vLLM loads, with a converter that only writes down that it was asked."""

from dataclasses import replace
from pathlib import Path

import pytest

from aeond.capabilities.llm.models.catalogue import HubFolder, own_file
from aeond.capabilities.llm.models.hub import Hub
from aeond.capabilities.llm.models.store import ModelStore
from aeond.capabilities.llm.vllm.models import ConvertedModels
from aeond.errors import LLMError
from tests.support.model_hub import RepositoryHub, served

# In place of the environment's Python: called as `python -P CONVERTER --parent N --source FILE --target FOLDER`.
CONVERTS = """#!/bin/sh
echo '{"activity": "converting", "progress": 0.5}'
mkdir "$8" && cp "$6" "$8/model.safetensors" && echo once >> "$(dirname "$0")/calls"
echo '{"ready": true}'
"""
FAILS = """#!/bin/sh
echo '{"error": "it cannot be converted: ValueError: no such architecture"}'
exit 1
"""
DIES = """#!/bin/sh
kill -9 $$
"""


def models(folder: Path, script: str) -> ConvertedModels:
    (folder / "mine.gguf").write_bytes(b"weights")
    python = folder / "python"
    python.write_text(script)
    python.chmod(0o755)
    return ConvertedModels(ModelStore(folder / "store"), folder / "converted", python)


def shown(_activity: str, _done: float) -> None:
    """Ignores the progress."""


async def test_a_model_is_converted_once(tmp_path: Path) -> None:
    """The first fetch converts, with progress; the next finds what is there."""
    store, mine = models(tmp_path, CONVERTS), own_file("mine", tmp_path / "mine.gguf")
    seen: list[tuple[str, float]] = []
    path = await store.fetch(mine, lambda activity, done: seen.append((activity, done)))
    assert (path / "model.safetensors").read_bytes() == b"weights"
    assert ("converting", 0.5) in seen
    assert await store.fetch(mine, shown) == path
    assert (tmp_path / "calls").read_text() == "once\n"
    assert [
        entry.name for entry in (tmp_path / "converted").iterdir() if not entry.name.endswith(".lock")
    ] == [path.name]


@pytest.mark.parametrize(
    ("script", "reason", "words"),
    [(FAILS, "MODEL_UNUSABLE", "no such architecture"), (DIES, "ENGINE_OUT_OF_MEMORY", "want of memory")],
)
async def test_a_failed_conversion_leaves_nothing(
    tmp_path: Path, script: str, reason: str, words: str
) -> None:
    """A conversion that fails or is killed says why, and no half of it is taken for a model."""
    store, mine = models(tmp_path, script), own_file("mine", tmp_path / "mine.gguf")
    with pytest.raises(LLMError, match=words) as failed:
        await store.fetch(mine, shown)
    assert failed.value.reason == reason
    assert [entry for entry in (tmp_path / "converted").iterdir() if entry.is_dir()] == []


async def test_a_folder_of_ones_own_is_taken_as_it_is(tmp_path: Path) -> None:
    """A folder with weights needs no conversion, and one without is refused."""
    store, folder = models(tmp_path, FAILS), tmp_path / "weights"
    folder.mkdir()
    with pytest.raises(LLMError, match="no weights"):
        await store.fetch(own_file("own", folder), shown)
    (folder / "model.safetensors").write_bytes(b"x")
    assert await store.fetch(own_file("own", folder), shown) == folder
    assert store.find(own_file("own", folder)) == folder


async def test_a_missing_environment_is_reported(tmp_path: Path) -> None:
    """Where vLLM is not installed, the error says how to install it."""
    store = ConvertedModels(ModelStore(tmp_path), tmp_path / "converted", tmp_path / "no" / "python")
    with pytest.raises(LLMError, match="aeond engine-setup") as failed:
        await store.fetch(own_file("mine", tmp_path / "mine.gguf"), shown)
    assert failed.value.reason == "ENGINE_NOT_INSTALLED"


async def test_a_published_model_is_not_converted(tmp_path: Path) -> None:
    """Safetensors of the hub are downloaded as they are, and found again without the hub."""
    weights = HubFolder("owner/tiny", "c0ffee", 100)
    entry = replace(own_file("tiny", tmp_path / "mine.gguf"), weights=weights)
    async with served(RepositoryHub({"model.safetensors": b"weights"})) as hub:
        python = tmp_path / "python"
        python.touch()
        store = ModelStore(tmp_path / "store", hub=Hub(hub.url))
        converted = ConvertedModels(store, tmp_path / "converted", python)
        assert converted.find(entry) is None
        path = await converted.fetch(entry, shown)
    assert (path / "model.safetensors").read_bytes() == b"weights"
    assert converted.find(entry) == await converted.fetch(entry, shown) == path
