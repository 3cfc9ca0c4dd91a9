"""One client for every server that speaks the OpenAI-compatible HTTP interface.

It knows the protocol and nothing of any engine: peculiarities are in the bodies that adapters build. It
translates what goes wrong: LLMGoneError when the connection breaks or the answer is cut short,
OverloadedError for 429 and 503 with the pause that the server asks for, LLMError for everything else.
It does not retry; that is the adapter's to decide.
"""

import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from aeond.capabilities.llm.server_sent_events import data_of
from aeond.capabilities.llm.unix_http import BrokenExchangeError, Response, exchange
from aeond.capabilities.llm.watching import Watch
from aeond.domain.llm import FinishReason, TokenUsage
from aeond.domain.values import JsonObject
from aeond.errors import AeondError, LLMError, LLMGoneError, OverloadedError

MAX_BODY_BYTES = 16 << 20
MAX_RETRY_AFTER_SECONDS = 60.0

FINISH_REASONS = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}


@dataclass(frozen=True, slots=True)
class ChatPiece:
    """What one event of a chat stream says; usually only one of the three is there."""

    text: str = ""
    finish_reason: FinishReason | None = None
    usage: TokenUsage | None = None


class OpenAIClient:
    """Talks to one server on a Unix socket.

    `watch` is told of every wait for the server and of everything that comes from it.
    """

    def __init__(self, socket: Path, watch: Watch) -> None:
        self._socket = socket
        self._watch = watch

    async def get(self, path: str) -> bytes:
        """The body at `path`."""
        async with self._response("GET", path, None) as response:
            return await self._text(response)

    async def post(self, path: str, body: Mapping[str, Any]) -> JsonObject:
        """The JSON object that the server answers to `body`."""
        async with self._response("POST", path, body) as response:
            return parse_object(await self._text(response))

    async def stream_chat(self, body: Mapping[str, Any]) -> AsyncGenerator[ChatPiece, None]:
        """A chat completion as it comes. The connection closes, and the server stops, when the iterator does.

        Ends only after the server said that the answer is complete; a stream cut short is LLMGoneError.
        """
        body = {**body, "stream": True, "stream_options": {"include_usage": True}}
        finished = False
        async with self._response("POST", "/v1/chat/completions", body) as response:
            async for data in data_of(self._bytes(response)):
                if data == b"[DONE]":
                    break
                piece = read_piece(data)
                finished = finished or piece.finish_reason is not None
                yield piece
        if not finished:
            raise LLMGoneError("The engine stopped in the middle of its answer.", retryable=True)

    @contextlib.asynccontextmanager
    async def _response(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> AsyncIterator[Response]:
        content = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        try:
            async with contextlib.AsyncExitStack() as stack:
                with self._watch.waiting():
                    response = await stack.enter_async_context(exchange(self._socket, method, path, content))
                self._watch.progress()
                if response.status != HTTPStatus.OK:
                    raise refusal(response.status, response.headers, await self._text(response))
                yield response
        except BrokenExchangeError as error:
            raise LLMGoneError(f"The connection to the engine broke: {error}.", retryable=True) from error

    async def _bytes(self, response: Response) -> AsyncGenerator[bytes, None]:
        while True:
            with self._watch.waiting():
                piece = await anext(response.body, None)
            if piece is None:
                return
            self._watch.progress()
            yield piece

    async def _text(self, response: Response) -> bytes:
        body = b""
        async for piece in self._bytes(response):
            body += piece
            if len(body) > MAX_BODY_BYTES:
                raise LLMError("The engine sent more than it may in one answer.", reason="BAD_ANSWER")
        return body


def parse_object(data: bytes) -> JsonObject:
    """Raises LLMError (reason BAD_ANSWER) for anything but a JSON object."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LLMError("The engine sent something that is not JSON.", reason="BAD_ANSWER") from error
    if not isinstance(value, dict):
        raise LLMError("The engine sent JSON of an unexpected shape.", reason="BAD_ANSWER")
    return value


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> AeondError:
    """The error that a status code other than 200 means."""
    try:
        message = describe_error(parse_object(body).get("error"))
    except LLMError:
        message = body[:500].decode(errors="replace")
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        try:
            seconds = float(headers.get("retry-after", ""))
        except ValueError:
            seconds = 1.0  # a date, or nothing: a moment
        return OverloadedError(
            f"The engine is busy: {message}",
            reason="ENGINE_BUSY",
            retry_after_seconds=min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS),
        )
    return LLMError(
        f"The engine answered {status}: {message}", reason="ENGINE_REFUSED", retryable=status >= 500
    )


def describe_error(error: object) -> str:
    if isinstance(error, Mapping):
        return str(error.get("message", error))[:500]
    return str(error)[:500]


def read_piece(data: bytes) -> ChatPiece:
    """One event of a chat stream; raises LLMError when it reports a failure or cannot be read."""
    event = parse_object(data)
    if "error" in event or "choices" not in event:
        said = describe_error(event.get("error", event))
        raise LLMError(f"The engine failed in the middle of its answer: {said}", reason="ENGINE_FAILED")
    try:
        return ChatPiece(*read_choice(event["choices"]), read_usage(event.get("usage")))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise LLMError(
            f"The engine sent an event of an unexpected shape: {error!r}", reason="BAD_ANSWER"
        ) from error


def read_choice(choices: Any) -> tuple[str, FinishReason | None]:
    if not choices:
        return "", None
    text = choices[0].get("delta", {}).get("content") or ""
    if not isinstance(text, str):
        raise TypeError("text is no text")
    reason = choices[0].get("finish_reason")
    return text, None if reason is None else FINISH_REASONS.get(reason, FinishReason.STOP)


def read_usage(usage: Any) -> TokenUsage | None:
    if usage is None:
        return None
    details = usage.get("prompt_tokens_details") or {}
    return TokenUsage(
        prompt_tokens=int(usage["prompt_tokens"]),
        completion_tokens=int(usage.get("completion_tokens", 0)),
        cached_tokens=int(details.get("cached_tokens") or 0),
    )
