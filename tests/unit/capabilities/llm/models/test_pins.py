"""A model without a digest of its own keeps the one of its first download."""

from dataclasses import replace
from pathlib import Path

import pytest

from aeond.capabilities.llm.models.catalogue import CatalogueEntry, HubFile
from aeond.capabilities.llm.models.hub import Hub
from aeond.capabilities.llm.models.pins import Pins
from aeond.capabilities.llm.models.store import ModelStore
from aeond.errors import LLMError
from tests.support.model_hub import RepositoryHub, served
from tests.support.model_wheels import CONTENT, DIGEST

TINY = CatalogueEntry("tiny", "", 1, "Apache-2.0", "", 512, (HubFile("owner/tiny", "tiny.gguf", "c0ffee"),))


def unseen(_activity: str, _done: float) -> None:
    """Ignores progress."""


async def test_the_first_download_pins_the_digest(tmp_path: Path) -> None:
    """The digest that the hub states is verified and noted, and another content is refused from then on."""
    folder = tmp_path / "models"
    async with served(RepositoryHub({"tiny.gguf": CONTENT})) as hub:
        store = ModelStore(folder, hub=Hub(hub.url))
        path = await store.fetch(TINY, unseen)
        assert path == store.find(TINY)
        assert path.name == f"{DIGEST}.gguf"
        assert (store.pins.applied(TINY).digest, store.pins.applied(TINY).size_bytes) == (
            DIGEST,
            len(CONTENT),
        )
    path.unlink()
    async with served(RepositoryHub({"tiny.gguf": b"other".ljust(len(CONTENT))})) as other:
        with pytest.raises(LLMError, match="digest"):
            await ModelStore(folder, hub=Hub(other.url)).fetch(TINY, unseen)


async def test_a_false_digest_of_the_hub_is_refused(tmp_path: Path) -> None:
    """A file that differs from what the hub states is not kept."""
    async with served(RepositoryHub({"tiny.gguf": CONTENT}, lie="tiny.gguf")) as hub:
        store = ModelStore(tmp_path, hub=Hub(hub.url))
        with pytest.raises(LLMError, match="digest"):
            await store.fetch(TINY, unseen)
        assert store.find(TINY) is None


async def test_a_damaged_file_is_found_by_its_pin(tmp_path: Path) -> None:
    """A kept file is checked against the pinned digest, and removed when it differs."""
    async with served(RepositoryHub({"tiny.gguf": CONTENT})) as hub:
        store = ModelStore(tmp_path, hub=Hub(hub.url))
        path = await store.fetch(TINY, unseen)
        assert not await store.remove_if_damaged(TINY)
        path.write_bytes(b"bad")
        assert await store.remove_if_damaged(TINY)


async def test_a_pin_is_of_one_place(tmp_path: Path) -> None:
    """Another revision of the file is not held to the digest of the earlier one."""
    async with served(RepositoryHub({"tiny.gguf": CONTENT})) as hub:
        pins = Pins(tmp_path)
        await pins.pin(TINY, Hub(hub.url))
        assert pins.applied(TINY).digest == DIGEST
        later = replace(TINY, places=(HubFile("owner/tiny", "tiny.gguf", "beef"),))
        assert pins.applied(later) == later


async def test_a_file_that_the_hub_does_not_list_is_unavailable(tmp_path: Path) -> None:
    """Without a digest from the hub there is no download."""
    async with served(RepositoryHub({"config.json": b"{}"})) as hub:
        with pytest.raises(LLMError, match="states no digest") as failed:
            await ModelStore(tmp_path, hub=Hub(hub.url)).fetch(TINY, unseen)
    assert failed.value.reason == "MODEL_UNAVAILABLE"
