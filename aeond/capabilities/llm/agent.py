"""The built-in agent: a model that answers a message."""

from collections.abc import AsyncIterator, Mapping

from aeond.concurrency import closing
from aeond.domain.llm import LLMChunk, LLMRequest, Timing, TokenUsage
from aeond.domain.messages import Message, Role
from aeond.domain.plans.plan import LLM_AGENT
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import InvalidInputError, LLMError
from aeond.ports import LLMAdapter

LONGEST_ANSWER = 1024  # tokens, when the message asks for no less


class LLMAgent:
    """Answers with one model call.

    A message's content is the prompt as a text, or `{"system": ..., "text": ...}`. Its metadata may hold
    `max_tokens`, the bound of prompt and answer together, `answer_tokens`, the bound of the answer alone,
    and `deadline_seconds`. The answer's metadata holds `used` (prompt_tokens, completion_tokens,
    cached_tokens, llm_calls, first_token_seconds, engine_seconds) and `finish_reason`.

    Raises LLMError (reason TOKENS_SPENT) instead of going over `max_tokens`, InvalidInputError for a message
    of another shape, and whatever the adapter raises.
    """

    name = LLM_AGENT
    capabilities = ("reason", "stream")

    def __init__(self, adapter: LLMAdapter) -> None:
        self._adapter = adapter

    async def process(self, message: Message) -> Message:
        response = await self._adapter.generate(await self._request(message))
        return answer(response.text, response.usage, response.finish_reason, response.timing)

    async def stream(self, message: Message) -> AsyncIterator[Message]:
        text = ""
        last = LLMChunk("")
        async with closing(self._adapter.stream(await self._request(message))) as chunks:
            async for chunk in chunks:
                last = chunk
                text += chunk.text
                if chunk.text:
                    yield Message(Role.AGENT, chunk.text)
        assert last.usage is not None, "an adapter's last chunk has the usage"
        yield answer(text, last.usage, last.finish_reason or "", last.timing)

    async def _request(self, message: Message) -> LLMRequest:
        messages = prompt_of(message.content)
        prompt_tokens = await self._adapter.count_tokens(messages)
        room = max(self._adapter.capabilities.context_length - prompt_tokens, 1)
        longest = min(room, whole(message.metadata, "answer_tokens", LONGEST_ANSWER))
        bound = whole(message.metadata, "max_tokens", prompt_tokens + longest)
        if bound <= prompt_tokens:
            raise LLMError(
                f"The prompt alone has {prompt_tokens} tokens and {bound} are left: nothing was asked.",
                reason="TOKENS_SPENT",
            )
        return LLMRequest(
            messages,
            max_tokens=min(longest, bound - prompt_tokens),
            deadline_seconds=whole(message.metadata, "deadline_seconds", 300),
        )


def prompt_of(content: JsonValue) -> tuple[Message, ...]:
    """A message's content as the model's messages."""
    if isinstance(content, str):
        return (Message(Role.USER, content),)
    if isinstance(content, Mapping) and set(content) <= {"system", "text"}:
        system, text = content.get("system", ""), content.get("text")
        if isinstance(system, str) and isinstance(text, str):
            asked = Message(Role.USER, text)
            return (Message(Role.SYSTEM, system), asked) if system else (asked,)
    raise InvalidInputError(
        "The message for a model must be a text, or an object with the texts system and text.",
        reason="MESSAGE_SHAPE",
        field="content",
    )


def whole(metadata: JsonObject, key: str, default: int) -> int:
    """A whole number, 0 or more, from the metadata."""
    value = metadata.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInputError(f"{key} must be a whole number, not {value!r}.", field=f"metadata.{key}")
    return value


def answer(text: str, usage: TokenUsage, finish_reason: str, timing: Timing) -> Message:
    """The whole answer with what it cost."""
    used = {
        "first_token_seconds": timing.first_token_seconds,
        "engine_seconds": timing.engine_seconds,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "llm_calls": 1,
    }
    return Message(Role.AGENT, text, {"used": used, "finish_reason": str(finish_reason)})
