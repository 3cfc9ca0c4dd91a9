"""What every adapter does with a request before and after the model sees it."""

import contextlib
import json
import math
from collections.abc import AsyncGenerator, Sequence
from typing import Any, TypeVar

import anyio

from aeond.domain.llm import LLMRequest, ToolSchema
from aeond.domain.messages import Message, Role
from aeond.domain.values import display_json
from aeond.errors import InvalidInputError, LLMError

MAX_MESSAGES = 1_000
MAX_PROMPT_BYTES = 4 << 20  # counting more than that would keep an engine busy for seconds
MAX_STOPS = 16
MAX_LIKELY = 20

ROLES = {Role.USER: "user", Role.AGENT: "assistant", Role.SYSTEM: "system", Role.TOOL: "tool"}

# The shortest request for a call.
PROBE = LLMRequest(
    (Message(Role.USER, "Call the tool."),),
    max_tokens=64,
    tools=(
        ToolSchema(
            "ready",
            "Says that you are ready.",
            {"type": "object", "properties": {}, "additionalProperties": False},
        ),
    ),
)

T = TypeVar("T")


def check_request(request: LLMRequest) -> None:
    """Raises InvalidInputError that names the field at fault."""
    check_messages(request.messages)
    if request.max_tokens < 1:
        raise InvalidInputError("max_tokens must be at least 1.", field="max_tokens")
    if not (math.isfinite(request.temperature) and 0 <= request.temperature <= 10):
        raise InvalidInputError("temperature must be between 0 and 10.", field="temperature")
    if len(request.stop) > MAX_STOPS or not all(request.stop):
        raise InvalidInputError(f"stop must be at most {MAX_STOPS} texts, none empty.", field="stop")
    if not 0 <= request.likely <= MAX_LIKELY:
        raise InvalidInputError(f"likely must be at most {MAX_LIKELY}.", field="likely")
    if request.tools and request.schema is not None:
        raise InvalidInputError("A request has either tools or a schema.", field="tools")
    if not request.deadline_seconds > 0:
        raise InvalidInputError("deadline_seconds must be above 0.", field="deadline_seconds")


def check_messages(messages: Sequence[Message]) -> None:
    if not 1 <= len(messages) <= MAX_MESSAGES:
        raise InvalidInputError(f"There must be 1 to {MAX_MESSAGES} messages.", field="messages")
    try:
        length = sum(len(display_json(message.content).encode()) for message in messages)
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            "A message holds a lone surrogate, which is no text: remove it.",
            reason="TEXT_NOT_UNICODE",
            field="messages",
        ) from error
    if length > MAX_PROMPT_BYTES:
        raise InvalidInputError(
            f"The messages have {length} bytes; no model here holds more than {MAX_PROMPT_BYTES}: shorten them.",
            reason="CONTEXT_TOO_LONG",
            field="messages",
        )


def check_length(prompt_tokens: int, max_tokens: int, context_length: int) -> None:
    """Nothing is truncated: a prompt and an answer that do not fit together are refused."""
    if prompt_tokens + max_tokens > context_length:
        raise InvalidInputError(
            f"The prompt has {prompt_tokens} tokens and max_tokens is {max_tokens}, but the model's context "
            f"holds {context_length}: shorten one of them by {prompt_tokens + max_tokens - context_length}.",
            reason="CONTEXT_TOO_LONG",
            field="messages",
        )


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages as chat templates know them."""
    return [_chat_message(message) for message in messages]


def _chat_message(message: Message) -> dict[str, Any]:
    chat: dict[str, Any] = {"role": ROLES[message.role], "content": display_json(message.content)}
    if message.tool_calls:
        chat["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.call_id:
        chat["tool_call_id"] = message.call_id
    return chat


def tool_fields(tools: Sequence[ToolSchema]) -> dict[str, Any]:
    """The tools as servers take them, with a prompt or to count it."""
    if not tools:
        return {}
    return {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in tools
        ]
    }


def common_fields(request: LLMRequest) -> dict[str, Any]:
    """The part of a request that all servers understand: everything but the model and the schema."""
    fields: dict[str, Any] = {
        "messages": chat_messages(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    if request.tools:  # called one at a time
        fields |= tool_fields(request.tools)
        fields |= {"tool_choice": request.tool_choice.value, "parallel_tool_calls": False}
    if request.seed is not None:
        fields["seed"] = request.seed
    if request.stop:
        fields["stop"] = list(request.stop)
    return fields


def likely_fields(request: LLMRequest) -> dict[str, Any]:
    """The likely tokens of a request, for a server that reports them."""
    return {"logprobs": True, "top_logprobs": request.likely} if request.likely else {}


def tools_length(tools: Sequence[ToolSchema]) -> int:
    """The bytes of the tools as they are sent."""
    return len(json.dumps(tool_fields(tools), ensure_ascii=False).encode()) if tools else 0


def without_tool_calls() -> LLMError:
    return LLMError(
        "The model's server answers a request with tools without a call: it cannot call tools natively.",
        reason="TOOLS_UNSUPPORTED",
    )


def out_of_time(seconds: float) -> LLMError:
    return LLMError(f"The model did not answer within {seconds:g} seconds.", reason="DEADLINE_EXCEEDED")


async def within(seconds: float, pieces: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The pieces, all of them within that time; LLMError (reason DEADLINE_EXCEEDED) when it runs out.

    The time runs only inside each wait, never over a yield, so the iterator may be left at any point.
    """
    end = anyio.current_time() + seconds
    async with contextlib.aclosing(pieces):
        while True:
            with anyio.CancelScope(deadline=end) as scope:
                try:
                    piece = await anext(pieces)
                except StopAsyncIteration:
                    return
            if scope.cancelled_caught:
                raise out_of_time(seconds)
            yield piece
