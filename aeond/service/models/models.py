"""Model operations for clients: generate text, embed texts, and manage the loaded model."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import field
from typing import Final

import anyio

from aeond.domain.llm import Embedding, Embeddings, EngineSnapshot, LLMChunk, LLMRequest, ModelInfo
from aeond.errors import LLMError, OverloadedError, WrongStateError
from aeond.frozen import frozen
from aeond.ports import Engine, LLMAdapter
from aeond.ports.embedding import Embedder
from aeond.service.models.model_checks import check_model
from aeond.service.runs.admission import Admission
from aeond.user_places import UserPlaces

# Direct requests of one user that the engine and the embedding model have at once. Both serve requests in the order of
# arrival: with more of them, those of other users would wait for all of these.
MAX_GENERATING: Final = 16
MAX_EMBEDDING: Final = 1
MAX_WAITING: Final = 64  # of one user
_IN_ALL: Final = 1_024


@frozen
class Models:
    """Model operations; `llm_of` returns the adapter of a model ("": the chosen one)."""

    llm_of: Callable[[str], LLMAdapter]
    engine: Engine
    embedder: Embedder
    admission: Admission
    generating: UserPlaces = field(default_factory=lambda: UserPlaces(_IN_ALL, MAX_GENERATING))
    embedding: UserPlaces = field(default_factory=lambda: UserPlaces(_IN_ALL, MAX_EMBEDDING))

    async def generate(self, request: LLMRequest, model: str, uid: int) -> AsyncGenerator[LLMChunk, None]:
        """Chunks for this user as they arrive, within the request's deadline, which includes waiting for the engine.

        NotFoundError (reason MODEL_NOT_FOUND) for a model that is not in the catalogue, WrongStateError
        (reason MODEL_NOT_PRESENT) for one that is not downloaded, LLMError (reason DEADLINE_EXCEEDED), OverloadedError
        (reason MODEL_QUEUE_FULL) if too many requests of the user wait.
        """
        self.admission.check()
        await check_model(self.engine, model)
        _require_room(self.generating, uid, "MODEL_QUEUE_FULL")
        end = anyio.current_time() + request.deadline_seconds
        with anyio.CancelScope(deadline=end) as queueing:
            await self.generating.acquire(uid)
        if queueing.cancelled_caught:
            raise _too_late(request)
        try:
            async with aclosing(self._chunks(request, model, end)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            self.generating.release(uid)

    async def _chunks(self, request: LLMRequest, model: str, end: float) -> AsyncGenerator[LLMChunk, None]:
        chunks = self.llm_of(model).stream(request)
        try:
            while True:
                # The deadline applies to each wait, never across a yield: the iterator may be abandoned at
                # any point.
                with anyio.CancelScope(deadline=end) as waiting:
                    chunk = await anext(chunks, None)
                if waiting.cancelled_caught:
                    raise _too_late(request)
                if chunk is None:
                    return
                yield chunk
        finally:
            # A disconnecting client closes this iterator; closing the inner one frees the engine's slot.
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    async def embed(self, texts: Sequence[str], uid: int) -> Embeddings:
        """The vectors of the texts of this user, in order. WrongStateError (reason EMBEDDER_MISSING) if the embedding model is
        turned off or not downloaded, OverloadedError (reason EMBEDDER_BUSY) if too many requests of the user wait.
        """
        self.admission.check()
        _require_room(self.embedding, uid, "EMBEDDER_BUSY")
        async with self.embedding.taking(uid):
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


def _require_room(places: UserPlaces, uid: int, reason: str) -> None:
    if places.waiting(uid) >= MAX_WAITING:
        raise OverloadedError(
            f"{MAX_WAITING} requests of user {uid} wait already, the limit for one user: try again later.",
            reason=reason,
        )


def _too_late(request: LLMRequest) -> LLMError:
    return LLMError(
        f"The model did not answer within {request.deadline_seconds:g} seconds.", reason="DEADLINE_EXCEEDED"
    )
