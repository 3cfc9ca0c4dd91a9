"""Models: text from the resident one, and which one that is."""

from collections.abc import AsyncGenerator, Sequence

from aeond.domain.llm import EngineSnapshot, LLMChunk, LLMRequest, ModelInfo
from aeond.errors import NotFoundError, WrongStateError
from aeond.ports import Engine, LLMAdapter
from aeond.service.admission import Admission


class Models:
    """The engine's models as clients see and use them."""

    def __init__(self, *, adapter: LLMAdapter, engine: Engine, admission: Admission) -> None:
        self._adapter = adapter
        self._engine = engine
        self._admission = admission

    async def generate(self, request: LLMRequest, model: str) -> AsyncGenerator[LLMChunk, None]:
        """Chunks as they come. WrongStateError (reason MODEL_NOT_LOADED) for a model of the catalogue that
        is not the resident one, NotFoundError (reason MODEL_NOT_FOUND) for one that it lacks."""
        self._admission.check()
        if model and model != self._adapter.model:
            await self._refuse(model)
        chunks = self._adapter.stream(request)
        try:
            async for chunk in chunks:
                yield chunk
        finally:
            # A client that leaves closes this iterator; the engine's slot is freed by closing that one.
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    async def list_models(self, *, after: str, limit: int) -> Sequence[ModelInfo]:
        """Sorted by name."""
        models = sorted(await self._engine.list_models(), key=lambda model: model.name)
        return [model for model in models if model.name > after][:limit]

    async def load(self, model: str) -> EngineSnapshot:
        """Begins and returns at once."""
        self._admission.check()
        await self._engine.load(model)
        return self._engine.snapshot()

    async def unload(self) -> EngineSnapshot:
        self._admission.check()
        await self._engine.unload()
        return self._engine.snapshot()

    async def _refuse(self, model: str) -> None:
        if any(known.name == model for known in await self._engine.list_models()):
            raise WrongStateError(
                f"the resident model is {self._adapter.model!r}, not {model!r}: load that one first",
                reason="MODEL_NOT_LOADED",
                field="model",
            )
        raise NotFoundError(
            f"the catalogue has no model {model!r}: list the models to see which there are",
            reason="MODEL_NOT_FOUND",
            field="model",
        )
