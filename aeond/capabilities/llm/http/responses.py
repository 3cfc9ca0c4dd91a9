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


def describe_error(error: object, secret: str = "") -> str:
    said = error.get("message", error) if isinstance(error, Mapping) else error
    return redacted(str(said), secret)[:500]


def read_piece(data: bytes, secret: str = "") -> ChatPiece:
    """One event of a chat stream; raises LLMError, whose message lacks the secret, when it reports a failure or cannot be
    read."""
    event = parse_object(data)
    if "error" in event or "choices" not in event:
        said = describe_error(event.get("error", event), secret)
        raise LLMError(f"The engine failed in the middle of its answer: {said}", reason="ENGINE_FAILED")
    try:
        choices = event["choices"]
        text, finish_reason = read_choice(choices)
        return ChatPiece(
            text, finish_reason, read_usage(event.get("usage")), read_calls(choices), read_likely(choices)
        )
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise LLMError(
            f"The engine sent an event of an unexpected shape: {redacted(repr(error), secret)[:500]}",
            reason="BAD_ANSWER",
        ) from error


def read_choice(choices: Any) -> tuple[str, FinishReason | None]:
    if not choices:
        return "", None
    text = choices[0].get("delta", {}).get("content") or ""
    if not isinstance(text, str):
        raise TypeError("text is no text")
    reason = choices[0].get("finish_reason")
    return text, None if reason is None else FINISH_REASONS.get(reason, FinishReason.STOP)


def read_likely(choices: Any) -> tuple[LikelyToken, ...]:
    tokens = (choices[0].get("logprobs") or {}).get("content") if choices else None
    if not tokens:
        return ()
    return tuple(LikelyToken(str(one["token"]), float(one["logprob"])) for one in tokens[0]["top_logprobs"])


def read_calls(choices: Any) -> tuple[CallPiece, ...]:
    parts = choices[0].get("delta", {}).get("tool_calls") or () if choices else ()
    return tuple(_call_piece(part) for part in parts)


def _call_piece(part: Any) -> CallPiece:
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
