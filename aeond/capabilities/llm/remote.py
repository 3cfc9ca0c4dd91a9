"""LLMAdapter over a server that somebody else runs, wherever it is."""

import contextlib
from collections.abc import AsyncGenerator, Sequence

import anyio

from aeond.capabilities.llm.asking import AskingAdapter
from aeond.capabilities.llm.llama_cpp import begins_as_json, check_json, schema_ignored
from aeond.capabilities.llm.remote_engine import RemoteEngine
from aeond.capabilities.llm.requests import check_length
from aeond.capabilities.llm.retrying import Retries
from aeond.domain.llm import FinishReason, LLMCapabilities, LLMChunk, LLMRequest, TokenUsage
from aeond.domain.messages import Message
from aeond.errors import LLMError


class RemoteAdapter(AskingAdapter):
    """The LLMAdapter port over a RemoteEngine.

    Where the server has a tokenizer to ask, counts are exact, and what does not fit is refused before it is sent.
    Where it has none (`capabilities.tokenizer` says so) a count is an estimate, rather too high than too low;
    the usage of an answer is exact with every server.
    """

    def __init__(self, engine: RemoteEngine, retries: Retries) -> None:
        super().__init__(retries, engine.measurements)
        self._engine = engine

    @property
    def model(self) -> str:
        return self._engine.model

    @property
    def capabilities(self) -> LLMCapabilities:
        seen = self._engine.seen
        return LLMCapabilities(
            streaming=True,
            schema=seen is None or seen.dialect.schemas,
            context_length=self._engine.context_length,
            tokenizer=seen is not None and seen.dialect.counts,
        )

    async def met(self) -> None:
        """Nothing starts for us: the first look at the server is a part of the request, and in its time."""
        await anyio.lowlevel.checkpoint()

    async def count(self, messages: Sequence[Message]) -> int:
        async with self._engine.session() as remote:
            return await remote.dialect.count(remote.client, messages)

    async def attempt(self, request: LLMRequest) -> AsyncGenerator[LLMChunk, None]:
        finish: FinishReason | None = None
        usage: TokenUsage | None = None
        text = ""
        async with self._engine.session() as remote:
            if remote.dialect.counts:
                counted = await remote.dialect.count(remote.client, request.messages)
                check_length(counted, request.max_tokens, remote.context_length)
            body = remote.dialect.body(request)
            async with contextlib.aclosing(remote.client.stream_chat(body)) as pieces:
                async for piece in pieces:
                    finish, usage = piece.finish_reason or finish, piece.usage or usage
                    if piece.text:
                        text += piece.text
                        if request.schema is not None and not begins_as_json(text.lstrip() or "{"):
                            raise schema_ignored()
                        yield LLMChunk(piece.text)
        if finish is None or usage is None:
            raise LLMError(
                "The server does not say how many tokens its answer took (usage), which we cannot do without.",
                reason="USAGE_MISSING",
            )
        if request.schema is not None and finish is FinishReason.STOP and not request.stop:
            check_json(text)
        yield LLMChunk("", finish, usage)
