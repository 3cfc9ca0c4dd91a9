"""Model operations for clients: generate text, embed texts, and manage the loaded model."""

from collections.abc import AsyncGenerator, Callable, Sequence

import anyio

from aeond.domain.llm import Embedding, Embeddings, EngineSnapshot, LLMChunk, LLMRequest, ModelInfo
from aeond.errors import LLMError, WrongStateError
from aeond.frozen import frozen
from aeond.ports import Engine, LLMAdapter
from aeond.ports.embedding import Embedder
from aeond.service.models.model_checks import check_model
from aeond.service.runs.admission import Admission


@frozen
class Models:
    """Model operations; `llm_of` returns the adapter of a model ("": the chosen one)."""

    llm_of: Callable[[str], LLMAdapter]
    engine: Engine
    embedder: Embedder
    admission: Admission

    async def generate(self, request: LLMRequest, model: str) -> AsyncGenerator[LLMChunk, None]:
        """Chunks as they arrive, within the request's deadline, which includes waiting for the engine.

        NotFoundError (reason MODEL_NOT_FOUND) for a model that is not in the catalogue, WrongStateError
        (reason MODEL_NOT_PRESENT) for one that is not downloaded, LLMError (reason DEADLINE_EXCEEDED).
        """
        self.admission.check()
        await check_model(self.engine, model)
        chunks = self.llm_of(model).stream(request)
        end = anyio.current_time() + request.deadline_seconds
        try:
            while True:
                # The deadline applies to each wait, never across a yield: the iterator may be abandoned at
                # any point.
                with anyio.CancelScope(deadline=end) as waiting:
                    chunk = await anext(chunks, None)
                if waiting.cancelled_caught:
                    raise LLMError(
                        f"The model did not answer within {request.deadline_seconds:g} seconds.",
                        reason="DEADLINE_EXCEEDED",
                    )
                if chunk is None:
                    return
                yield chunk
        finally:
            # A disconnecting client closes this iterator; closing the inner one frees the engine's slot.
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """The vectors of the texts, in order. WrongStateError (reason EMBEDDER_MISSING) if the embedding model is turned off
        or not downloaded.
        """
        self.admission.check()
        found = await self.embedder.embed(texts) if self.embedder.available else ()
        if not self.embedder.available or len(found) != len(texts):
            raise WrongStateError(
                "There is no embedding model: set embedding.enabled, and let the daemon download it (embedding.fetch).",
                reason="EMBEDDER_MISSING",
            )
        return Embeddings(self.embedder.name, tuple(Embedding(vector) for vector in found))

    async def list_models(self, *, after: str, limit: int) -> Sequence[ModelInfo]:
        """Sorted by name."""
        models = sorted(await self.engine.list_models(), key=lambda model: model.name)
        return [model for model in models if model.name > after][:limit]

    async def load(self, model: str) -> EngineSnapshot:
        """Starts loading and returns immediately."""
        self.admission.check()
        await check_model(self.engine, model, may_download=True)
        await self.engine.load(model)
        return self.engine.snapshot()

    async def unload(self) -> EngineSnapshot:
        self.admission.check()
        await self.engine.unload()
        return self.engine.snapshot()

    async def sleep(self) -> EngineSnapshot:
        self.admission.check()
        await self.engine.sleep()
        return self.engine.snapshot()

    async def wake(self) -> EngineSnapshot:
        """Starts waking and returns immediately."""
        self.admission.check()
        await self.engine.wake()
        return self.engine.snapshot()
