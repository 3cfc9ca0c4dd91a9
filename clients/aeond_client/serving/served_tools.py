"""Serves functions of a program as tools of the user: `ServedTools`, `AsyncServedTools`, and `serve_tools` for a program
that does nothing else."""

import asyncio
import math
import os
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Self

from aeond_client.connection.sockets import find_socket
from aeond_client.serving.client_tool import CallContext, ClientTool, tool
from aeond_client.serving.tool_stream import ToolStream

PATIENCE_SECONDS = 60.0
MAX_CALLS = 32  # as many as the daemon sends

Served = ClientTool | Callable[..., Any]


def serve_tools(tools: Sequence[Served], *, source: str = "", socket: str | os.PathLike[str] = "") -> None:
    """Serves the tools until Ctrl-C, then withdraws them and returns. Raises the error of a daemon that has been away for a
    minute."""
    with suppress(KeyboardInterrupt), ServedTools(tools, source=source, socket=socket) as served:
        served.wait()


class ServedTools:
    """Tools that the daemon may call while the context is open: `with ServedTools([greet]): ...`.

    Functions are made into tools by `tool`. Each call has a thread of its own; an async function gets an event loop of its
    own there. More than `max_calls` at a time wait for one that ends. Only runs of this user see the tools. `source` names the program for people (default: its process name).
    Entering raises what the daemon reports: AlreadyExistsError (reason TOOL_EXISTS), InvalidInputError with the path of the
    field. A daemon that went away is waited for, at most `patience_seconds`, and results are delivered then.
    """

    def __init__(
        self,
        tools: Sequence[Served],
        *,
        source: str = "",
        socket: str | os.PathLike[str] = "",
        patience_seconds: float = PATIENCE_SECONDS,
        max_calls: int = MAX_CALLS,
    ) -> None:
        self._tools = [one if isinstance(one, ClientTool) else tool(one) for one in tools]
        self._source = source
        self._socket = socket
        self._patience_seconds = patience_seconds
        self._max_calls = max_calls
        self._stream: ToolStream | None = None

    def __enter__(self) -> Self:
        self._stream = self._opened(lambda awaited, _context: asyncio.run(_as_coroutine(awaited)))
        self._stream.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.stop()

    def wait(self, seconds: float = math.inf) -> None:
        """Returns after this time; raises the error that ended the service."""
        if self._stream is not None:
            self._stream.wait(seconds)

    def _opened(self, finish: Callable[[Any, CallContext], Any]) -> ToolStream:
        target = find_socket(self._socket).target
        return ToolStream(
            target,
            self._tools,
            finish,
            source=self._source,
            patience_seconds=self._patience_seconds,
            max_calls=self._max_calls,
        )


class AsyncServedTools(ServedTools):
    """The same for asyncio: `async with AsyncServedTools([greet]) as served: await served.ended()`.

    Async functions run on the event loop, and are cancelled if their call is.
    """

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()

        def finish(awaited: Any, context: CallContext) -> Any:
            future: Future[Any] = asyncio.run_coroutine_threadsafe(_as_coroutine(awaited), loop)
            context.on_cancel(future.cancel)
            return future.result()

        self._stream = await asyncio.to_thread(self._opened, finish)
        await asyncio.to_thread(self._stream.start)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._stream is not None:
            await asyncio.to_thread(self._stream.stop)

    async def ended(self) -> None:
        """Returns when the service was stopped; raises the error that ended it."""
        await asyncio.to_thread(self.wait)


def _as_coroutine(awaited: Any) -> Coroutine[Any, Any, Any]:
    async def result() -> Any:
        return await awaited

    return result()
