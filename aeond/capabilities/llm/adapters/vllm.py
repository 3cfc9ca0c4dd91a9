"""LLMAdapter over a supervised vLLM."""

import contextlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Protocol

from aeond.capabilities.llm.adapters.chunks import chunks_of
from aeond.capabilities.llm.adapters.llama_cpp import uncounted
from aeond.capabilities.llm.adapters.requests import check_length, tools_length
from aeond.capabilities.llm.adapters.server_adapter import EngineAdapter, EngineSessions
from aeond.capabilities.llm.vllm.engine import VllmResident
from aeond.domain.llm import LLMChunk, LLMRequest, Priority, ToolSchema
from aeond.domain.messages import Message, Role
from aeond.domain.values import display_json
from aeond.errors import LLMError, LLMGoneError

# The smaller, the sooner.
PRIORITIES = {Priority.INTERACTIVE: 0, Priority.BACKGROUND: 1}
# More than any chat template puts around a message.
MESSAGE_TOKENS = 32
# What the server says of itself when its core is dead and it is about to follow.
LAST_WORDS = ("EngineDead", "EngineCore encountered an issue", "engine is dead")


class VllmSessions(EngineSessions[VllmResident], Protocol):
    """What this adapter needs of an engine; an EngineSupervisor is one."""

    def mark_dead(self, resident: VllmResident) -> None:
        """Ends the life that this one is of."""


class VllmAdapter(EngineAdapter[VllmSessions]):
    """The LLMAdapter port over a vLLM engine, which starts with the first request.

    The engine works on many requests at once and finds by itself what it has read of a prompt before: put
    stable text first. Interactive requests go before background ones.
    """

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
        async with self._engine.session() as resident:
            with self._watched(resident):
                return await resident.dialect.count(resident.client, messages, tools)

    async def attempt(self, request: LLMRequest) -> AsyncGenerator[LLMChunk, None]:
        async with self._engine.session() as resident:
            with self._watched(resident):
                await self._check_room(resident, request)
                body = resident.dialect.body(request) | {"priority": PRIORITIES[request.priority]}
                pieces = resident.client.stream_chat(body)
                async with contextlib.aclosing(chunks_of(request, pieces, uncounted())) as chunks:
                    async for chunk in chunks:
                        yield chunk

    async def _check_room(self, resident: VllmResident, request: LLMRequest) -> None:
        """Refuses what does not fit. Counting costs a round trip, so what fits for certain is not counted: no
        token has less than a byte."""
        length = self._engine.context_length
        if resident.template_tokens is None:
            shortest = (Message(Role.USER, "1"),)
            resident.template_tokens = await resident.dialect.count(resident.client, shortest, ())
        texts = sum(len(display_json(message.content).encode()) for message in request.messages)
        if request.tools:  # a template may write more around them than their own text
            texts += 2 * tools_length(request.tools)
        most = resident.template_tokens + MESSAGE_TOKENS * len(request.messages) + texts
        if most + request.max_tokens > length:
            counted = await resident.dialect.count(resident.client, request.messages, request.tools)
            check_length(counted, request.max_tokens, length)

    @contextlib.contextmanager
    def _watched(self, resident: VllmResident) -> Iterator[None]:
        """Marks a server as dead when its core has died: it stays up briefly and fails every request."""
        try:
            yield
        except LLMGoneError:
            # Otherwise an immediate retry fails in the same way until the guard has cleaned up.
            self._engine.mark_dead(resident)
            raise
        except LLMError as error:
            if not any(words in error.message for words in LAST_WORDS):
                raise
            self._engine.mark_dead(resident)
            raise LLMGoneError("The engine died in the middle of its answer.", retryable=True) from error
