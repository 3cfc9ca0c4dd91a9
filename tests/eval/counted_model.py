"""An LLMAdapter that counts what its calls cost."""

from collections.abc import AsyncIterator, Sequence

from aeond.domain.llm import LLMCapabilities, LLMChunk, LLMRequest, LLMResponse, TokenUsage, ToolSchema
from aeond.domain.messages import Message
from aeond.ports import LLMAdapter
from tests.eval.verdicts import Effort


class CountedModel:
    """The LLMAdapter port over another adapter; `effort` is the sum over all calls, without the seconds."""

    def __init__(self, llm: LLMAdapter) -> None:
        self._llm = llm
        self.effort = Effort()

    @property
    def model(self) -> str:
        return self._llm.model

    @property
    def capabilities(self) -> LLMCapabilities:
        return self._llm.capabilities

    async def generate(self, request: LLMRequest) -> LLMResponse:
        response = await self._llm.generate(request)
        self._count(response.usage)
        return response

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        async for chunk in self._llm.stream(request):
            if chunk.usage is not None:
                self._count(chunk.usage)
            yield chunk

    async def count_tokens(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        return await self._llm.count_tokens(messages, tools)

    def _count(self, usage: TokenUsage) -> None:
        self.effort += Effort(1, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
