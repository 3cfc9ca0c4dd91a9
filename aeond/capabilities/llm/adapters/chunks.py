"""A server's answer as chunks, held to what was asked for: the same for every engine."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from aeond.capabilities.llm.http.responses import CallPiece, ChatPiece
from aeond.domain.llm import FinishReason, LikelyToken, LLMChunk, LLMRequest, TokenUsage
from aeond.domain.messages import ModelToolCall
from aeond.errors import LLMError


async def chunks_of(
    request: LLMRequest, pieces: AsyncGenerator[Sequence[ChatPiece], None], uncounted: LLMError
) -> AsyncGenerator[LLMChunk, None]:
    """The text as it comes, one chunk for all that came together. The last chunk has the finish reason, the usage, the complete
    tool calls and the likely first tokens. Closes `pieces` at the end.

    Raises LLMError (reason SCHEMA_NOT_ENFORCED) as soon as an answer under a schema is seen not to be JSON, and
    `uncounted` when it ends without them.
    """
    finish: FinishReason | None = None
    usage: TokenUsage | None = None
    text = ""
    calls: dict[int, ModelToolCall] = {}
    likely: tuple[LikelyToken, ...] = ()
    async with aclosing(pieces):
        async for come in pieces:
            for piece in come:
                finish, usage = piece.finish_reason or finish, piece.usage or usage
                likely = likely or piece.likely
                for part in piece.calls:
                    calls[part.index] = joined(calls.get(part.index), part)
            if texts := [piece.text for piece in come if piece.text]:
                text += (new := "".join(texts))
                if request.schema is not None and not begins_as_json(text):
                    raise schema_ignored()
                yield LLMChunk(new, pieces=len(texts))
    if finish is None or usage is None:
        raise uncounted
    if request.schema is not None and finish is FinishReason.STOP and not request.stop:
        check_json(text)
    whole = tuple(calls[index] for index in sorted(calls))
    yield LLMChunk("", finish, usage, tool_calls=whole, likely=likely)


def joined(call: ModelToolCall | None, part: CallPiece) -> ModelToolCall:
    """The call with its next part."""
    if call is None:
        return ModelToolCall(part.name, part.arguments, part.call_id)
    return ModelToolCall(
        call.name or part.name, call.arguments + part.arguments, call.call_id or part.call_id
    )


def begins_as_json(text: str) -> bool:
    """Whether this can be the beginning of a JSON value; an engine that ignores a schema writes prose."""
    begun = text.lstrip()
    words = ("true", "false", "null")
    return not begun or begun[0] in '{["-0123456789' or any(word.startswith(begun[:5]) for word in words)


def check_json(text: str) -> None:
    """A complete answer under a schema is JSON; anything else means that the engine did not enforce it."""
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise schema_ignored() from error


def schema_ignored() -> LLMError:
    return LLMError(
        "The engine did not keep to the schema, most likely because nothing satisfies it: use a simpler one.",
        reason="SCHEMA_NOT_ENFORCED",
    )
