"""What servers answer, read with care: JSON objects, and the events of a chat stream."""

import json
from collections.abc import Mapping
from typing import Any

from aeond.domain.llm import FinishReason, LikelyToken, TokenUsage
from aeond.domain.values import JsonObject
from aeond.errors import LLMError
from aeond.frozen import frozen

FINISH_REASONS = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}
MAX_CALLS = 32  # of one answer


@frozen
class CallPiece:
    """A part of the tool call at `index`: its first part has the name, and all parts together the arguments."""

    index: int
    call_id: str
    name: str
    arguments: str


@frozen
class ChatPiece:
    """One event of a chat stream; usually only one of these is there. `likely` is what the first token of its text could
    have been."""

    text: str = ""
    finish_reason: FinishReason | None = None
    usage: TokenUsage | None = None
    calls: tuple[CallPiece, ...] = ()
    likely: tuple[LikelyToken, ...] = ()


def parse_object(data: bytes) -> JsonObject:
    """Raises LLMError (reason BAD_ANSWER) for anything but a JSON object."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LLMError("The engine sent something that is not JSON.", reason="BAD_ANSWER") from error
    if not isinstance(value, dict):
        raise LLMError("The engine sent JSON of an unexpected shape.", reason="BAD_ANSWER")
    return value


def redacted(text: str, secret: str) -> str:
    """The text without the secret. To be called before a text is cut, so that no part of a secret is left."""
    return text.replace(secret, "[key]") if secret else text


def read_piece(data: bytes, secret: str = "") -> ChatPiece:
    """One event of a chat stream; raises LLMError, whose message lacks the secret, when it reports a failure or cannot be
    read."""
    event = parse_object(data)
    if "error" in event or "choices" not in event:
        error = event.get("error", event)
        said = str(error.get("message", error) if isinstance(error, Mapping) else error)
        raise LLMError(
            f"The engine failed in the middle of its answer: {redacted(said, secret)[:500]}",
            reason="ENGINE_FAILED",
        )
    try:
        choices: Any = event["choices"]
        choice = choices[0] if choices else {}
        delta = choice.get("delta", {})
        return ChatPiece(
            read_text(delta),
            read_finish_reason(choice),
            read_usage(event.get("usage")),
            tuple(map(read_call, delta.get("tool_calls") or ())),
            read_likely(choice),
        )
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise LLMError(
            f"The engine sent an event of an unexpected shape: {redacted(repr(error), secret)[:500]}",
            reason="BAD_ANSWER",
        ) from error


def read_text(delta: Any) -> str:
    text = delta.get("content") or ""
    if not isinstance(text, str):
        raise TypeError("text is no text")
    return text


def read_finish_reason(choice: Any) -> FinishReason | None:
    reason = choice.get("finish_reason")
    return None if reason is None else FINISH_REASONS.get(reason, FinishReason.STOP)


def read_likely(choice: Any) -> tuple[LikelyToken, ...]:
    tokens = (choice.get("logprobs") or {}).get("content")
    if not tokens:
        return ()
    return tuple(LikelyToken(str(one["token"]), float(one["logprob"])) for one in tokens[0]["top_logprobs"])


def read_call(part: Any) -> CallPiece:
    index, function = int(part.get("index", 0)), part.get("function") or {}
    arguments = function.get("arguments") or ""
    if not 0 <= index < MAX_CALLS:
        raise ValueError(f"tool call {index} of at most {MAX_CALLS}")
    if not isinstance(arguments, str):  # some servers send the object itself
        arguments = json.dumps(arguments, ensure_ascii=False)
    return CallPiece(index, str(part.get("id") or ""), str(function.get("name") or ""), arguments)


def read_usage(usage: Any) -> TokenUsage | None:
    if usage is None:
        return None
    details = usage.get("prompt_tokens_details") or {}
    return TokenUsage(
        prompt_tokens=int(usage["prompt_tokens"]),
        completion_tokens=int(usage.get("completion_tokens", 0)),
        cached_tokens=int(details.get("cached_tokens") or 0),
    )
