"""Sends an answer while it is made, and ends the work when the client hangs up."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any, Final, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from aeond.facades.openai.failures import ApiError, of_daemon
from aeond.facades.openai.parts import Ended, Failed, Part
from aeond_client.errors import AeondError

TURN_SECONDS: Final = 3_600.0
QUIET_SECONDS: Final = 15.0
"""After this time without an event a comment is sent, which clients ignore: they count silence as an error."""
QUEUED_PARTS: Final = 16
COMMENT: Final = b": working\n\n"


class Form(Protocol):
    """A form of the API: events of a stream, or one object."""

    def add(self, part: Part) -> Iterator[str]: ...

    def whole(self, end: Ended) -> dict[str, Any]: ...


class Delivery(Response):
    """A response made of parts, which are asked for only as fast as the client reads."""

    def __init__(self, parts: AsyncGenerator[Part, None], form: Form, *, stream: bool) -> None:
        self._parts = parts
        self._form = form
        self._streamed = stream
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_until_hung_up, receive, group.cancel_scope)
            sending, receiving = anyio.create_memory_object_stream[Part](QUEUED_PARTS)
            group.start_soon(_produce, self._parts, sending)
            async with receiving:
                await (self._stream if self._streamed else self._at_once)(receiving, scope, receive, send)
            group.cancel_scope.cancel()

    async def _at_once(
        self, parts: MemoryObjectReceiveStream[Part], scope: Scope, receive: Receive, send: Send
    ) -> None:
        async for part in parts:
            for _ in self._form.add(part):
                pass
            if isinstance(part, Failed):
                return await failure(part.error)(scope, receive, send)
            if isinstance(part, Ended):
                return await JSONResponse(self._form.whole(part))(scope, receive, send)
        raise AssertionError("an answer has no end")

    async def _stream(
        self, parts: MemoryObjectReceiveStream[Part], scope: Scope, receive: Receive, send: Send
    ) -> None:
        """An error before the first event has a status of its own; later ones are events."""
        begun = False
        while True:
            part: Part | None = None
            with anyio.move_on_after(QUIET_SECONDS):
                part = await parts.receive()
            if isinstance(part, Failed) and not begun:
                return await failure(part.error)(scope, receive, send)
            if not begun:
                begun = True
                headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            last = isinstance(part, Ended | Failed)
            body = COMMENT if part is None else "".join(self._form.add(part)).encode("utf-8", "replace")
            await send({"type": "http.response.body", "body": body, "more_body": not last})
            if last:
                return None


def failure(error: ApiError) -> JSONResponse:
    return JSONResponse(error.body, error.status, error.headers)


async def _produce(parts: AsyncGenerator[Part, None], sending: MemoryObjectSendStream[Part]) -> None:
    """Passes the parts on. Errors and the deadline are a last part."""
    async with sending:
        late = ApiError(504, "timed_out", f"The answer took more than {TURN_SECONDS:.0f} seconds.")
        failed = Failed(late)
        with anyio.move_on_after(TURN_SECONDS):
            try:
                async with aclosing(parts) as made:
                    async for part in made:
                        await sending.send(part)
                        if isinstance(part, Ended | Failed):
                            return
            except ApiError as error:
                failed = Failed(error)
            except AeondError as error:
                failed = Failed(of_daemon(error))
        await sending.send(failed)


async def _until_hung_up(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
