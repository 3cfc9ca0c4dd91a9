"""The engine of a scripted model: there is no process, so it is ready at once and never dies."""

from collections.abc import Sequence

from anyio.lowlevel import checkpoint

from aeond.domain.llm import EngineSnapshot, EngineState, ModelInfo
from aeond.errors import NotFoundError
from aeond.ports import LLMAdapter


class ScriptedEngine:
    """The Engine port over an adapter that needs no engine; its one model cannot be out of memory."""

    def __init__(self, adapter: LLMAdapter) -> None:
        self._adapter = adapter

    def snapshot(self) -> EngineSnapshot:
        return EngineSnapshot(EngineState.READY, self._adapter.model, progress=1.0)

    async def load(self, model: str) -> None:
        await checkpoint()
        if model not in ("", self._adapter.model):
            raise NotFoundError(
                f"There is no model {model!r}. There are: {self._adapter.model}.",
                reason="MODEL_NOT_FOUND",
                field="model",
            )

    async def unload(self) -> None:
        """Nothing is held, so nothing is given back."""
        await checkpoint()

    async def list_models(self) -> Sequence[ModelInfo]:
        await checkpoint()
        return (
            ModelInfo(
                name=self._adapter.model,
                digest="",
                size_bytes=0,
                licence="",
                description="Answers from a script",
                context_length=self._adapter.capabilities.context_length,
                present=True,
                loaded=True,
                default=True,
            ),
        )
