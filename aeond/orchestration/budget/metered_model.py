"""The model as an agent of a user or of aeond uses it: every call is taken from the step's grant first."""

from collections.abc import AsyncIterator, Sequence

from aeond.domain.llm import LLMCapabilities, LLMChunk, LLMRequest, LLMResponse, ToolSchema
from aeond.domain.messages import Message
from aeond.domain.runs.budgets import Grant
from aeond.errors import LLMError
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.ports import LLMAdapter


class MeteredModel:
    """The LLMAdapter port over another adapter and a grant.

    Raises LLMError with the reason of the problem, BUDGET_SPENT if the grant has too little left.
    """

    def __init__(self, llm: LLMAdapter, grant: Grant) -> None:
        self._llm = llm
        self._budgeted = BudgetedLLM(llm, grant)

    @property
    def model(self) -> str:
        return self._llm.model

    @property
    def capabilities(self) -> LLMCapabilities:
        return self._llm.capabilities

    async def generate(self, request: LLMRequest) -> LLMResponse:
        answered = await self._budgeted.generate(request)
        if answered.value is None:
            raise LLMError(answered.cause.message, reason=answered.cause.reason)
        return answered.value

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        """The answer in pieces as they come. One that is not read to its end counts in full."""
        async for chunk in self._budgeted.chunks(request):
            yield chunk

    async def count_tokens(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        return await self._llm.count_tokens(messages, tools)
