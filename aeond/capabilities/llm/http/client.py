"""One client for every server that speaks the OpenAI-compatible HTTP interface.

It knows the protocol and nothing of any engine: peculiarities are in the bodies that adapters build. It
translates what goes wrong: LLMGoneError when the connection breaks or the answer is cut short,
OverloadedError for 429 and 503 with the pause that the server asks for, LLMError for everything else.
It does not retry; that is the adapter's to decide.
"""

import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from http import HTTPStatus
from itertools import takewhile
from typing import Any

from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.http.endpoints import BrokenExchangeError, Endpoint
from aeond.capabilities.llm.http.errors import refusal
from aeond.capabilities.llm.http.responses import ChatPiece, parse_object, read_piece
from aeond.capabilities.llm.http.sse import data_of
from aeond.capabilities.llm.http.transport import Response, exchange
from aeond.domain.values import JsonObject
from aeond.errors import LLMError, LLMGoneError

MAX_BODY_BYTES = 16 << 20
DONE = b"[DONE]"


class OpenAIClient:
    """Talks to the server at one endpoint.

    `watch` records every wait for the server and the arrival of all data from it.
    """

    def __init__(self, endpoint: Endpoint, watch: Watchdog) -> None:
        self._endpoint = endpoint
        self._watch = watch

    async def get(self, path: str) -> bytes:
        async with self._response("GET", path, None) as response:
            return await self._text(response)

    async def post(self, path: str, body: Mapping[str, Any]) -> JsonObject:
        """The JSON object that the server answers to `body`."""
        async with self._response("POST", path, body) as response:
            return parse_object(await self._text(response))

    async def act(self, path: str, body: Mapping[str, Any] | None = None) -> None:
        """Posts to `path` for what that sets in motion; what the server answers is passed over."""
        async with self._response("POST", path, body) as response:
            await self._text(response)

    async def stream_chat(self, body: Mapping[str, Any]) -> AsyncGenerator[Sequence[ChatPiece], None]:
        """A chat completion as it comes; after its first text, what comes within a tenth of a second comes together. The
        connection closes, and the server stops, when the iterator does.

        Ends only after the server said that the answer is complete; a stream cut short is LLMGoneError.
        """
        body = {**body, "stream": True, "stream_options": {"include_usage": True}}
        finished = False
        async with self._response("POST", "/v1/chat/completions", body) as response:
            async for come in data_of(self._bytes(response)):
                pieces: list[ChatPiece] = []
                try:
                    for data in takewhile(DONE.__ne__, come):
                        pieces.append(read_piece(data, self._endpoint.secret))
                except LLMError:
                    if pieces:
                        yield pieces
                    raise
                if any(piece.text for piece in pieces):
                    response.gather(DONE)
                finished = finished or any(piece.finish_reason is not None for piece in pieces)
                yield pieces
                if DONE in come:
                    break
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
                    response = await stack.enter_async_context(
                        exchange(self._endpoint, method, path, content)
                    )
                self._watch.progress()
                if response.status != HTTPStatus.OK:
                    raise refusal(
                        response.status,
                        response.headers,
                        await self._text(response),
                        self._endpoint.secret,
                    )
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
