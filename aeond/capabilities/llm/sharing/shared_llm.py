"""LLMAdapter over an engine that is shared out."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from aeond.capabilities.llm.adapters.requests import check_messages, check_request
from aeond.capabilities.llm.sharing.shared_engine import SharedEngine
from aeond.concurrency import closing
from aeond.domain.llm import LLMCapabilities, LLMChunk, LLMRequest, LLMResponse, ToolSchema
from aeond.domain.messages import Message
from aeond.errors import LLMError
from aeond.ports import LLMAdapter

COUNT_SECONDS = 300.0


class SharedLLM:
    """The LLMAdapter port for one model of an engine ("": the one that is chosen when it is asked).

    Each call is made in the model's turn, through an adapter that asks whichever model is resident. A call that
    only has its prompt read ahead never wakes, loads or keeps anything: it is made while its model is ready and
    no other work needs the engine, and fails otherwise (LLMError, reason GAVE_WAY).
    """

    def __init__(self, adapter: LLMAdapter, engine: SharedEngine, model: str = "") -> None:
        self._adapter = adapter
        self._engine = engine
        self._model = model
        self._learned: dict[str, LLMCapabilities] = {}

    @property
    def model(self) -> str:
        return self._model or self._engine.chosen or self._adapter.model

    @property
    def capabilities(self) -> LLMCapabilities:
        """Context length and native tool calls are those of this model once it has been asked, until then the
        resident one's."""
        known = self._adapter.capabilities
        of_model = self._learned.get(self.model, known)
        return replace(known, context_length=of_model.context_length, tool_calls=of_model.tool_calls)

    async def generate(self, request: LLMRequest) -> LLMResponse:
        check_request(request)
        if request.reads_ahead:
            return await self._read_ahead(request)
        async with self._at_work(request.deadline_seconds) as left:
            return await self._adapter.generate(replace(request, deadline_seconds=left))

    def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        check_request(request)
        return self._stream(request)

    async def count_tokens(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        check_messages(messages)
        async with self._at_work(COUNT_SECONDS):
            return await self._adapter.count_tokens(messages, tools)

    async def _stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        async with self._at_work(request.deadline_seconds) as left:
            asked = replace(request, deadline_seconds=left)
            async with closing(self._adapter.stream(asked)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def _read_ahead(self, request: LLMRequest) -> LLMResponse:
        with self._engine.beside(self.model) as beside:
            if beside:
                return await self._adapter.generate(request)
        raise LLMError("The engine is needed for something else, or rests.", reason="GAVE_WAY")

    @asynccontextmanager
    async def _at_work(self, deadline_seconds: float) -> AsyncIterator[float]:
        """As `SharedEngine.at_work`. Keeps what the adapter says of its model, which in this turn is the resident one."""
        async with self._engine.at_work(self._model, deadline_seconds) as left:
            try:
                yield left
            finally:
                self._learned[self._adapter.model] = self._adapter.capabilities
