"""How servers of one interface differ: how a schema is named, how tokens are counted, what goes with a request."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, ClassVar, Final

from aeond.capabilities.llm.adapters.llama_cpp import COMPACT, chat_body, prompt_tokens
from aeond.capabilities.llm.adapters.requests import (
    chat_messages,
    common_fields,
    likely_fields,
    tool_fields,
    tools_length,
)
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.domain.llm import LLMRequest, ToolSchema
from aeond.domain.messages import Message
from aeond.domain.values import display_json
from aeond.errors import LLMError
from aeond.frozen import frozen
from aeond.schemas.engine_core import compile_schema, response_format

# Without a tokenizer a count is a guess on the safe side, by what tokenizers have in common: words fall into pieces
# of four letters and more, digits and signs stand alone, a space belongs to its word, and the bytes of rarer
# scripts are pieces of their own. What a chat template adds to each message is less than this.
PIECES: Final = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<space> )|(?P<blank>\s+)|(?P<other>[^\x00-\x7f]+)|.", re.DOTALL
)
LETTERS_PER_TOKEN: Final = 4
TOKENS_PER_MESSAGE: Final = 8


class ServerKind(StrEnum):
    """Which program answers, as far as that makes a difference."""

    AUTO = "auto"  # what the server says of itself
    LLAMA_CPP = "llama_cpp"
    VLLM = "vllm"
    OPENAI = "openai"  # any other


@frozen
class Dialect(ABC):
    """What one kind of server understands. `counts` says whether `count` is exact, `schemas` whether the server may be
    asked to keep to one."""

    model: str
    schemas: bool
    counts: ClassVar = True

    @abstractmethod
    def body(self, request: LLMRequest) -> dict[str, Any]:
        """The request as the chat endpoint takes it. InvalidInputError for a schema that cannot be enforced."""

    @abstractmethod
    async def count(
        self, client: OpenAIClient, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> int:
        """The tokens of a prompt of these messages and tools."""


@frozen
class LlamaDialect(Dialect):
    """llama.cpp's server. `guided`: it was built with llguidance, so that JSON comes compact and every keyword of
    the core is enforced; else it makes a grammar of the schema itself."""

    guided: bool

    def body(self, request: LLMRequest) -> dict[str, Any]:
        return chat_body(request, guided=self.guided) | {"model": self.model}

    async def count(
        self, client: OpenAIClient, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> int:
        return len(await prompt_tokens(client, messages, tools))


@frozen
class VllmDialect(Dialect):
    """vLLM's server."""

    def body(self, request: LLMRequest) -> dict[str, Any]:
        body = {"model": self.model, **common_fields(request)} | likely_fields(request)
        if request.schema is not None:
            # The guidance backend reads how compact it is to be from the schema; the others pass over it.
            body["structured_outputs"] = {"json": {**compile_schema(request.schema), "x-guidance": COMPACT}}
        return body

    async def count(
        self, client: OpenAIClient, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> int:
        asked = {
            "model": self.model,
            "messages": chat_messages(messages),
            "add_generation_prompt": True,
            **tool_fields(tools),
        }
        counted = (await client.post("/tokenize", asked)).get("count")
        if not isinstance(counted, int):
            raise LLMError("The engine counted tokens in an unexpected way.", reason="BAD_ANSWER")
        return counted


@frozen
class PlainDialect(Dialect):
    """Any other server: the interface as its inventor describes it, and no tokenizer. Likely tokens are not requested:
    some of these servers refuse such a request."""

    counts: ClassVar = False

    def body(self, request: LLMRequest) -> dict[str, Any]:
        body = {"model": self.model, **common_fields(request)}
        if request.schema is not None:
            body["response_format"] = response_format(request.schema)
        return body

    async def count(
        self, client: OpenAIClient, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> int:
        return guessed_tokens(messages) + tools_length(tools) // LETTERS_PER_TOKEN


def guessed_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens the messages have, rather too many than too few."""
    return sum(_guessed(display_json(message.content)) + TOKENS_PER_MESSAGE for message in messages)


def _guessed(text: str) -> int:
    count = 0
    for piece in PIECES.finditer(text):
        match piece.lastgroup:
            case "word":
                count += -(-len(piece[0]) // LETTERS_PER_TOKEN)
            case "space":
                pass
            case "other":
                count += len(piece[0].encode())
            case _:
                count += 1
    return count


async def guides(client: OpenAIClient) -> bool:
    """Whether a llama.cpp server understands the grammars of llguidance: it is asked for one token under one."""
    asked = {
        "messages": [{"role": "user", "content": "1"}],
        "max_tokens": 4,
        "grammar": "%llguidance {}\nstart: %json " + json.dumps({"const": 1}),
    }
    try:
        answered = await client.post("/v1/chat/completions", asked)
        choices: Any = answered["choices"]
        return bool(choices[0]["message"]["content"] == "1")
    except (LLMError, KeyError, IndexError, TypeError):
        return False
