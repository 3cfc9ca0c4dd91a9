"""Finds out whether a server writes native tool calls."""

from typing import Any, Final

from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.errors import LLMError, LLMGoneError

PROBE_TOKENS: Final = 64
_TOOL: Final = {
    "type": "function",
    "function": {
        "name": "ready",
        "description": "Says that you are ready.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}


async def calls_tools(client: OpenAIClient, model: str, *, required: bool) -> bool:
    """Whether the answer to a request for one call, of a tool without arguments, has it. With `required` it shows
    what the server can enforce, else also what the model does by itself. LLMGoneError if the connection breaks."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "Call the tool."}],
        "max_tokens": PROBE_TOKENS,
        "temperature": 0,
        "tools": [_TOOL],
        "tool_choice": "required" if required else "auto",
    }
    try:
        answered = await client.post("/v1/chat/completions", body)
        choices: Any = answered["choices"]
        return bool(choices[0]["message"]["tool_calls"][0]["function"]["name"] == "ready")
    except LLMGoneError:
        raise
    except (LLMError, KeyError, IndexError, TypeError):
        return False
