# Generated from protos/ by `make proto`; never edited.
"""The connection of the client for programs without an event loop: opens it, and makes calls by it."""

import math
import os
import time
from collections.abc import Generator
from typing import Any, Self, TypeVar

from aeond_client.calls.call_spec import PAGE_SIZE, Call, PageCall
from aeond_client.connection.channels import StreamChannels
from aeond_client.connection.failures import may_repeat
from aeond_client.connection.retries import Retries
from aeond_client.connection.sockets import find_socket
from aeond_client.connection.transport import Channel, Stream, open_channel, send
from aeond_client.errors import AeondError, CallCancelledError
from aeond_client.socket_address import SocketAddress

T = TypeVar("T")


class Connection:
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

    def __enter__(self) -> Self:
        self._socket = find_socket(self._wanted_socket)
        self._control = self._open_channel()
        return self

    def __exit__(self, *_: object) -> None:
        control, self._control, self._socket = self._control, None, None
        if control is not None:
            control.close()
        for channel in self._streams.take_all():
            channel.close()

    @property
    def socket(self) -> SocketAddress:
        """The socket in use, and how it was found."""
        if self._socket is None:
            raise _not_open()
        return self._socket

    def _open_channel(self) -> Channel:
        return open_channel(self.socket.target)

    def _make(self, call: Call[T]) -> T:
        """Makes a call, with retries if safe, and reads its reply."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return call.read(self._once(call))
            except AeondError as error:
                if attempt >= self._retries.attempts or not may_repeat(error, repeatable=call.repeatable):
                    raise
                wait = self._retries.wait_seconds(attempt, asked_seconds=error.retry_after_seconds)
            time.sleep(wait)

    def _once(self, call: Call[Any]) -> Any:
        if self._control is None:
            raise _not_open()
        return send(self._control, call, min(call.seconds, self._most_seconds))

    def _stream(self, call: Call[T]) -> Generator[T, None, None]:
        """Makes a streaming call, once; closing the iterator ends the call."""
        channel = self._streams.take()
        stream = Stream(channel, call)
        try:
            while (message := stream.read()) is not None:
                yield call.read(message)
        finally:
            stream.cancel()
            self._streams.give_back(channel)

    def _list(self, page_call: PageCall[T], limit: int) -> tuple[T, ...]:
        items: list[T] = []
        token = ""
        while len(items) < limit:
            page = self._make(page_call(token, min(limit - len(items), PAGE_SIZE)))
            items += page.items
            token = page.next_page_token
            if not token:
                break
        return tuple(items[:limit])


def _not_open() -> CallCancelledError:
    return CallCancelledError("The client is not open: use it inside `with`.", reason="CLIENT_CLOSED")
