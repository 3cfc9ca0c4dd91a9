"""The connection of the client for programs with an asyncio event loop: opens it, and makes calls by it."""

import asyncio
import math
import os
from collections.abc import AsyncGenerator
from typing import Any, Self, TypeVar

from aeond_client.calls.call_spec import PAGE_SIZE, Call, PageCall
from aeond_client.connection.async_transport import AsyncStream, Channel, open_channel, send
from aeond_client.connection.channels import StreamChannels
from aeond_client.connection.failures import may_repeat
from aeond_client.connection.retries import Retries
from aeond_client.connection.sockets import find_socket
from aeond_client.errors import AeondError, CallCancelledError
from aeond_client.socket_address import SocketAddress

T = TypeVar("T")


class AsyncConnection:
    """Makes calls, with retries if that is safe, and reads their replies. The client adds the calls of the contract."""

    def __init__(
        self,
        socket: str | os.PathLike[str] = "",
        *,
        retries: Retries | None = None,
        most_seconds: float = math.inf,
    ) -> None:
        self._wanted_socket = socket
        self._retries = retries or Retries()
        self._most_seconds = most_seconds
        self._socket: SocketAddress | None = None
        self._control: Channel | None = None
        self._streams = StreamChannels(self._open_channel)

    async def __aenter__(self) -> Self:
        self._socket = find_socket(self._wanted_socket)
        self._control = self._open_channel()
        return self

    async def __aexit__(self, *_: object) -> None:
        control, self._control, self._socket = self._control, None, None
        if control is not None:
            await control.close()
        for channel in self._streams.take_all():
            await channel.close()

    @property
    def socket(self) -> SocketAddress:
        """The socket in use, and how it was found."""
        if self._socket is None:
            raise _not_open()
        return self._socket

    def _open_channel(self) -> Channel:
        return open_channel(self.socket.target)

    async def _make(self, call: Call[T]) -> T:
        """Makes a call, with retries if safe, and reads its reply."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return call.read(await self._once(call))
            except AeondError as error:
                if attempt >= self._retries.attempts or not may_repeat(error, repeatable=call.repeatable):
                    raise
                wait = self._retries.wait_seconds(attempt, asked_seconds=error.retry_after_seconds)
            await asyncio.sleep(wait)

    async def _once(self, call: Call[Any]) -> Any:
        if self._control is None:
            raise _not_open()
        return await send(self._control, call, min(call.seconds, self._most_seconds))

    async def _stream(self, call: Call[T]) -> AsyncGenerator[T, None]:
        """Makes a streaming call, once; closing the iterator ends the call."""
        channel = self._streams.take()
        stream = AsyncStream(channel, call)
        try:
            while (message := await stream.read()) is not None:
                yield call.read(message)
        finally:
            stream.cancel()
            self._streams.give_back(channel)

    async def _list(self, page_call: PageCall[T], limit: int) -> tuple[T, ...]:
        items: list[T] = []
        token = ""
        while len(items) < limit:
            page = await self._make(page_call(token, min(limit - len(items), PAGE_SIZE)))
            items += page.items
            token = page.next_page_token
            if not token:
                break
        return tuple(items[:limit])


def _not_open() -> CallCancelledError:
    return CallCancelledError("The client is not open: use it inside `async with`.", reason="CLIENT_CLOSED")
