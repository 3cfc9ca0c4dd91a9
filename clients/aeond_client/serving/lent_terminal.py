"""The terminal of a program, lent to a run: keys go to a tool of the daemon, its screen comes back."""

import os
from collections.abc import Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Self

from aeond.api.v1 import tools_pb2
from aeond_client.calls.call_spec import methods_of
from aeond_client.connection.sockets import find_socket
from aeond_client.connection.transport import exchange, open_channel, translated
from aeond_client.errors import CallCancelledError

METHOD = methods_of(tools_pb2.DESCRIPTOR)["AttachTerminal"]
MAX_TYPED_BYTES = 64 << 10

_Request = tools_pb2.AttachTerminalRequest


class LentTerminal:
    """Lends a terminal to a run while the context is open: `type` and `resize` send, `screen` gives what comes back.

    `kind` is the value of TERM. Leaving the context hangs up. Other threads may use the methods.
    """

    def __init__(
        self, run_id: str, *, kind: str, rows: int, columns: int, socket: str | os.PathLike[str] = ""
    ) -> None:
        size = tools_pb2.TerminalSize(rows=rows, columns=columns)
        self._offer = _Request(offer=tools_pb2.TerminalOffer(run_id=run_id, kind=kind, size=size))
        self._socket = socket
        self._queue: SimpleQueue[tools_pb2.AttachTerminalRequest | None] = SimpleQueue()
        self._stream: Any = None

    def __enter__(self) -> Self:
        self._queue.put(self._offer)
        self._channel = open_channel(find_socket(self._socket).target)
        self._stream = exchange(self._channel, METHOD, iter(self._queue.get, None))
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._stream.cancel()
        self._channel.close()

    def type(self, keys: bytes) -> None:
        for begin in range(0, len(keys), MAX_TYPED_BYTES):
            self._queue.put(_Request(typed=keys[begin : begin + MAX_TYPED_BYTES]))

    def resize(self, rows: int, columns: int) -> None:
        self._queue.put(_Request(size=tools_pb2.TerminalSize(rows=rows, columns=columns)))

    def hang_up(self) -> None:
        """Ends `screen`, also in another thread."""
        self._stream.cancel()

    def screen(self) -> Iterator[bytes]:
        """The output of the tool until it ends, or `hang_up`. Raises the daemon's error."""
        with suppress(CallCancelledError), translated():
            for response in self._stream:
                yield response.screen
