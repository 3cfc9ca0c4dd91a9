"""Finds out whether a server writes native tool calls."""

from collections.abc import Mapping
from typing import Any

from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.errors import LLMError, LLMGoneError


async def calls_tools(client: OpenAIClient, body: Mapping[str, Any]) -> bool:
    """Whether the answer to a chat request with one tool is a call of it. LLMGoneError if the connection breaks."""
    try:
        answered = await client.post("/v1/chat/completions", body)
        choices: Any = answered["choices"]
        called = choices[0]["message"]["tool_calls"][0]["function"]["name"]
        return bool(called == body["tools"][0]["function"]["name"])
    except LLMGoneError:
        raise
    except (LLMError, KeyError, IndexError, TypeError):
        return False
