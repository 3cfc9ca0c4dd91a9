"""LLMAdapter over a server that aeond does not run, on this machine or elsewhere."""

import contextlib
from collections.abc import AsyncGenerator, Sequence

import anyio

from aeond.capabilities.llm.adapters.chunks import chunks_of
from aeond.capabilities.llm.adapters.requests import check_length, without_tool_calls
from aeond.capabilities.llm.adapters.server_adapter import ServerAdapter
from aeond.capabilities.llm.external.remote_engine import RemoteEngine
from aeond.domain.llm import LLMCapabilities, LLMChunk, LLMRequest, ToolSchema
from aeond.domain.messages import Message
from aeond.errors import LLMError


class RemoteAdapter(ServerAdapter[RemoteEngine]):
    """The LLMAdapter port over a RemoteEngine.

    Where the server has a tokenizer to ask, counts are exact, and what does not fit is refused before it is sent.
    Where it has none (`capabilities.tokenizer` says so) a count is an estimate, rather too high than too low;
    the usage of an answer is exact with every server.
    """

    @property
    def capabilities(self) -> LLMCapabilities:
        seen = self._engine.seen
        return LLMCapabilities(
            schema=seen is None or seen.dialect.schemas,
            context_length=self._engine.context_length,
            tokenizer=seen is not None and seen.dialect.counts,
            tool_calls=seen is not None and seen.tool_calls,
        )

    async def met(self) -> None:
        """Nothing starts for us: the first look at the server is a part of the request, and in its time."""
        await anyio.lowlevel.checkpoint()

    async def confirm_tool_calls(self) -> None:
        """The engine found out when it examined the server."""
        async with self._engine.session() as remote:
            if not remote.tool_calls:
                raise without_tool_calls()

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
        async with self._engine.session() as remote:
            return await remote.dialect.count(remote.client, messages, tools)

    async def attempt(self, request: LLMRequest) -> AsyncGenerator[LLMChunk, None]:
        async with self._engine.session() as remote:
            if remote.dialect.counts:
                counted = await remote.dialect.count(remote.client, request.messages, request.tools)
                check_length(counted, request.max_tokens, remote.context_length)
            body = remote.dialect.body(request)
            pieces = remote.client.stream_chat(body)
            async with contextlib.aclosing(chunks_of(request, pieces, uncounted())) as chunks:
                async for chunk in chunks:
                    yield chunk


def uncounted() -> LLMError:
    return LLMError(
        "The server's answer lacks the token counts (usage), which the budget of a run requires: use a server that reports them.",
        reason="USAGE_MISSING",
    )
