"""The composition of the embedder and of what fetches its files."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from aeond.capabilities.embedding.minilm_embedder import MiniLmEmbedder, WeightFiles
from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.llm.models.embedding_files import EmbeddingFiles
from aeond.daemon.compose.engine import store_of
from aeond.daemon.config.model_sections import EngineKind
from aeond.daemon.config.paths import Paths
from aeond.daemon.config.schema import Config
from aeond.errors import NotFoundError
from aeond.ports import Clock
from aeond.ports.embedding import Embedder


@asynccontextmanager
async def opened_embedder(config: Config, files: EmbeddingFiles, clock: Clock) -> AsyncIterator[Embedder]:
    """The embedder, for as long as the block lasts; it loads nothing before it is used."""
    if not config.embedding.enabled:
        yield NoEmbedder()
        return

    def find() -> WeightFiles | None:
        found = files.find()
        return WeightFiles(*found) if found is not None else None

    async with MiniLmEmbedder(find, clock, config.embedding.unload_after_seconds) as embedder:
        yield embedder


def embedding_files(config: Config, paths: Paths) -> EmbeddingFiles:
    """Where the embedder's files are, or come from."""
    return EmbeddingFiles(paths.models_dir, partial(store_of, config.model, paths))


def fetches_at_start(config: Config) -> bool:
    """Whether a daemon that starts downloads the embedding model if it is missing."""
    wanted = config.embedding.enabled and config.embedding.fetch and config.model.load_at_start
    return wanted and config.model.engine is not EngineKind.SCRIPTED


def check_embedding(config: Config, paths: Paths) -> str:
    """Describes the state of the embedding model. NotFoundError (reason MODEL_MISSING) if it is not here."""
    if not config.embedding.enabled:
        return "off: texts are compared by words"
    found = embedding_files(config, paths).find()
    if found is None:
        message = f"the embedding model is not in {paths.models_dir}: texts are compared by words"
        raise NotFoundError(message, reason="MODEL_MISSING")
    return f"the embedding model is at {found[0]}"
