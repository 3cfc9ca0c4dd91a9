"""Repositories of safetensors: complete, verified, and without code."""

from pathlib import Path

import pytest

from aeond.capabilities.llm.models.catalogue import HubFolder
from aeond.capabilities.llm.models.hub import Hub
from aeond.capabilities.llm.models.hub_folders import HubFolders
from aeond.errors import LLMError
from tests.support.model_hub import RepositoryHub, served

WANTED = HubFolder("owner/tiny", "c0ffee", 100)
FILES = {"config.json": b"{}", "model.safetensors": b"weights" * 100, "modeling.py": b"import os"}


def unseen(_activity: str, _done: float) -> None:
    """Ignores progress."""


def folders(folder: Path, hub: RepositoryHub, free: int = 1 << 40) -> HubFolders:
    return HubFolders(folder, (), Hub(hub.url), lambda _folder: free)


async def test_a_repository_arrives_without_its_code(tmp_path: Path) -> None:
    """Weights and configuration of the pinned commit are downloaded once, and no Python file."""
    async with served(RepositoryHub(FILES)) as hub:
        ours = folders(tmp_path, hub)
        assert ours.find(WANTED) is None
        steps: list[float] = []
        found = await ours.fetch(WANTED, lambda _activity, done: steps.append(done))
        assert sorted(path.name for path in found.iterdir()) == ["config.json", "model.safetensors"]
        assert (found / "model.safetensors").read_bytes() == FILES["model.safetensors"]
        asked = len(hub.paths)
        assert await ours.fetch(WANTED, unseen) == ours.find(WANTED) == found
    assert len(hub.paths) == asked
    assert all("/c0ffee" in path for path in hub.paths)
    assert steps == sorted(steps)
    assert steps[-1] == 1


@pytest.mark.parametrize("lie", ["config.json", "model.safetensors"])
async def test_a_file_that_differs_from_its_metadata_is_refused(tmp_path: Path, lie: str) -> None:
    """Content with another digest, or object id, than the hub states never becomes part of a model."""
    async with served(RepositoryHub(FILES, lie=lie)) as hub:
        ours = folders(tmp_path, hub)
        with pytest.raises(LLMError, match="metadata") as failed:
            await ours.fetch(WANTED, unseen)
        assert failed.value.reason == "MODEL_UNAVAILABLE"
        assert ours.find(WANTED) is None


async def test_an_interrupted_download_is_continued(tmp_path: Path) -> None:
    """Files that were verified before an interruption are not downloaded again."""
    async with served(RepositoryHub(FILES, lie="model.safetensors")) as broken:
        with pytest.raises(LLMError):
            await folders(tmp_path, broken).fetch(WANTED, unseen)
    async with served(RepositoryHub(FILES)) as hub:
        await folders(tmp_path, hub).fetch(WANTED, unseen)
    assert [path.rsplit("/", 1)[1] for path in hub.paths] == ["c0ffee", "model.safetensors"]


async def test_a_full_disk_is_reported_before_the_download(tmp_path: Path) -> None:
    """Too little space is an error with figures, and no file is downloaded."""
    async with served(RepositoryHub(FILES)) as hub:
        with pytest.raises(LLMError, match="needs 0 MB") as failed:
            await folders(tmp_path, hub, free=10).fetch(HubFolder("a/b", "1", 1), unseen)
        assert failed.value.reason == "DISK_FULL"
        assert len(hub.paths) == 1


async def test_a_repository_without_safetensors_is_refused(tmp_path: Path) -> None:
    """Weights in a form that can hold code are not used."""
    async with served(RepositoryHub({"pytorch_model.bin": b"pickle"})) as hub:
        with pytest.raises(LLMError, match="no safetensors"):
            await folders(tmp_path, hub).fetch(WANTED, unseen)
