"""Chat completions in OpenAI's form, answered by a model of the daemon."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aeond.domain.llm import FinishReason, LLMRequest, LLMResponse, TokenUsage
from aeond.domain.messages import Message, Role
from aeond.errors import AeondError
from aeond.ports import LLMAdapter

ANSWER_TOKENS: Final = 2_048
ANSWER_SECONDS: Final = 600.0
MAX_MESSAGES: Final = 500
ShowPiece = Callable[[str], Awaitable[None]]
_ROLES: Final = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.AGENT}


class ChatMessage(BaseModel):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


class ChatRequest(BaseModel):
    """The parts of a request that are honoured; the name of the model is not."""

    model_config = ConfigDict(extra="ignore")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    max_tokens: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    stream: bool | None = None


class Relay:
    """Answers requests by one model, one after the other. `refusals` are the reasons of those that it could not answer,
    in order: BUDGET_SPENT for example. `answers` are the texts that it answered with."""

    def __init__(self, llm: LLMAdapter) -> None:
        self._llm = llm
        self._count = 0
        self.refusals: list[str] = []
        self.answers: list[str] = []

    async def answer(self, body: Any, show: ShowPiece | None = None) -> tuple[int, Mapping[str, Any]]:
        """The status of HTTP and the body of the answer. Whatever is wrong is 400, which clients do not repeat. `show`
        receives the pieces of an answer that is to be streamed; without it none can be."""
        self._count += 1
        try:
            asked = ChatRequest.model_validate(body)
            request = LLMRequest(
                messages=tuple(Message(_ROLES[one.role], one.content) for one in asked.messages),
                max_tokens=min(asked.max_tokens or ANSWER_TOKENS, ANSWER_TOKENS),
                temperature=asked.temperature or 0.0,
                deadline_seconds=ANSWER_SECONDS,
            )
            if not asked.stream:
                response = await self._llm.generate(request)
            elif show is not None:
                response = await self._streamed(request, show)
            else:
                return self._refused("REQUEST_INVALID", "invalid request: answers are not streamed here")
        except ValidationError as error:
            return self._refused("REQUEST_INVALID", f"invalid request: {error.error_count()} problems")
        except AeondError as error:
            return self._refused(error.reason, error.message)
        self.answers.append(response.text)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": response.text},
            "finish_reason": "length" if response.finish_reason is FinishReason.LENGTH else "stop",
        }
        usage = {
            "prompt_tokens": response.usage.prompt_tokens,
            "completion_tokens": response.usage.completion_tokens,
            "total_tokens": response.usage.total_tokens,
        }
        return 200, {
            "id": f"aeond-{self._count}",
            "object": "chat.completion",
            "created": 0,
            "model": response.model,
            "choices": [choice],
            "usage": usage,
        }

    async def _streamed(self, request: LLMRequest, show: ShowPiece) -> LLMResponse:
        text: list[str] = []
        reason, usage = FinishReason.STOP, TokenUsage()
        async for chunk in self._llm.stream(request):
            if chunk.text:
                text.append(chunk.text)
                await show(chunk.text)
            reason, usage = chunk.finish_reason or reason, chunk.usage or usage
        return LLMResponse("".join(text), usage, self._llm.model, reason)

    def _refused(self, reason: str, message: str) -> tuple[int, Mapping[str, Any]]:
        self.refusals.append(reason)
        return 400, {"error": {"message": message, "type": "invalid_request_error", "code": reason}}
