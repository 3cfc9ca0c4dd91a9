"""LLMAdapter over the embedded llama.cpp engine."""

import contextlib
import json
from array import array
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

from aeond.capabilities.llm.adapters.chunks import chunks_of
from aeond.capabilities.llm.adapters.requests import (
    chat_messages,
    check_length,
    common_fields,
    likely_fields,
    tool_fields,
)
from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.adapters.server_adapter import EngineAdapter, EngineSessions
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.llama.prefill import Resident
from aeond.domain.llm import (
    LLMChunk,
    LLMRequest,
    ToolSchema,
)
from aeond.domain.messages import Message
from aeond.domain.values import JsonObject
from aeond.errors import LLMError, LLMGoneError
from aeond.schemas.engine_core import compile_schema, response_format

COUNTED_PROMPTS = 48  # the fixed parts of all kinds of prompts, and some prompts
# JSON without a space: fewer tokens, and small models cannot fill their budget with newlines.
COMPACT = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}


class LlamaCppAdapter(EngineAdapter[EngineSessions[Resident]]):
    """The LLMAdapter port over a llama.cpp engine, which starts with the first request.

    Requests run at the same time in the engine's slots. One that begins as an earlier one did goes on where
    that one was read: put stable text first. A background request for a single token only has
    its prompt read ahead: it yields to all other requests, and the read prompt is kept across restarts.
    """

    def retries_of(self, request: LLMRequest) -> Retries:
        """A request that only reads ahead is tried once: a second try would restart an engine that has just been
        unloaded."""
        return replace(self._retries, attempts=1) if request.reads_ahead else self._retries

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
        async with self._engine.session() as engine:
            return len(await _counted(engine, messages, tools))

    async def attempt(self, request: LLMRequest) -> AsyncGenerator[LLMChunk, None]:
        async with self._engine.session() as engine:
            request = request if engine.guided else without_grammar_ahead(request)
            body = chat_body(request, guided=engine.guided)
            tokens = await _counted(engine, request.messages, request.tools)
            check_length(len(tokens), request.max_tokens, self._engine.context_length)
            fixed = await _counted(engine, request.messages[:-1]) if request.fixed else ()
            async with engine.prompts.read(tokens, request, fixed) as prompt:
                pieces = engine.client.stream_chat(body | {"id_slot": prompt.slot})
                async with contextlib.aclosing(chunks_of(request, pieces, uncounted())) as chunks:
                    async for chunk in chunks:
                        # The engine's own count of cached tokens includes those just read for this request.
                        usage = chunk.usage and replace(chunk.usage, cached_tokens=prompt.known_tokens)
                        yield replace(chunk, usage=usage)


def uncounted() -> LLMGoneError:
    return LLMGoneError("The engine's answer ended without its token counts.", retryable=True)


def chat_body(request: LLMRequest, *, guided: bool = True) -> dict[str, Any]:
    """The request as llama.cpp's chat endpoint takes it; a server that was built without LLGuidance makes a grammar of
    the schema itself.
    """
    body: dict[str, Any] = {
        **common_fields(request),
        "cache_prompt": True,
        # Without it the server looks at the connection only after the whole prompt is read.
        "return_progress": True,
        **likely_fields(request),
    }
    if request.schema is not None:
        if guided:
            body["grammar"] = grammar(request.schema)
        else:
            body["response_format"] = response_format(request.schema)
    return body


def without_grammar_ahead(request: LLMRequest) -> LLMRequest:
    """A request that only reads ahead, without its schema: a server that was built without LLGuidance rejects one below a conversation
    that ends with a reply. Any other request as it is."""
    return replace(request, schema=None) if request.reads_ahead else request


def grammar(schema: JsonObject) -> str:
    """A schema as the grammar of llguidance, the engine's constraint backend: compact JSON only."""
    compiled = {**compile_schema(schema), "x-guidance": COMPACT}
    return "%llguidance {}\nstart: %json " + json.dumps(compiled, ensure_ascii=False)


async def _counted(
    engine: Resident, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()
) -> list[int]:
    """`prompt_tokens` with a cache: every prompt is counted before it is read, and many prompts have the same fixed part."""
    text = json.dumps([chat_messages(messages), tool_fields(tools)])
    known = engine.counted.pop(text, None)
    if known is None:
        known = array("i", await prompt_tokens(engine.client, messages, tools))
    engine.counted[text] = known
    while len(engine.counted) > COUNTED_PROMPTS:
        del engine.counted[next(iter(engine.counted))]
    return list(known)


async def prompt_tokens(
    client: OpenAIClient, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()
) -> list[int]:
    """The messages and tools as a prompt, by the model's own template and tokenizer."""
    rendered = await client.post(
        "/apply-template", {"messages": chat_messages(messages), **tool_fields(tools)}
    )
    answer = await client.post(
        "/tokenize", {"content": rendered.get("prompt"), "add_special": True, "parse_special": True}
    )
    tokens = answer.get("tokens")
    if not isinstance(tokens, list) or not all(isinstance(token, int) for token in tokens):
        raise LLMError("The engine counted tokens in an unexpected way.", reason="BAD_ANSWER")
    return tokens
