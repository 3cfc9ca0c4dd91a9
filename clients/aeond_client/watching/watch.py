# Generated from protos/ by `make proto`; never edited.
"""A run's events as an iterator that survives restarts of the daemon."""

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from aeond_client.calls.run_calls import events_of, watch_run
from aeond_client.connection.channels import StreamChannels
from aeond_client.connection.failures import may_follow_on
from aeond_client.connection.sockets import SocketState, probe
from aeond_client.connection.transport import Channel, Stream
from aeond_client.errors import AeondError, CallCancelledError, UnavailableError
from aeond_client.events import Event
from aeond_client.watching.following import STREAM_SECONDS, Follower


class Watch:
    """The events of one run up to the last one; each numbered event once and in order. With children, also
    the events of all runs below it, each run's in order, until the last of them has ended.

    Reconnects automatically if the daemon goes away, for up to `patience_seconds`, then raises the error.
    Leaving it, by `close`, at the end of `with` or by dropping it, ends the call but not the run. Only
    one request for the next event may be in progress; closing is allowed at any time, from any thread.
    """

    def __init__(
        self,
        follower: Follower,
        channels: StreamChannels[Channel],
        socket_path: str,
        is_open: Callable[[], bool],
    ) -> None:
        self._follower = follower
        self._channels = channels
        self._socket_path = socket_path
        self._is_open = is_open
        self._channel: Channel | None = None
        self._stream: Stream | None = None
        self._waiting: deque[Event] = deque()
        self._closed = False

    @property
    def run_id(self) -> str:
        return self._follower.run_id

    @property
    def last_seq(self) -> int:
        """The number of the last event returned: the position from which another watch can resume."""
        return self._follower.last_seq

    def _left(self) -> bool:
        """Whether this or another thread has closed the watch."""
        return self._closed

    def __iter__(self) -> "Watch":
        return self

    def __next__(self) -> Event:
        while not self._follower.ended and not self._left():
            try:
                event = self._next_event()
                if event is not None and self._follower.accept(event):
                    return event
            except AeondError as error:
                self._drop(lost=True)
                if self._left():
                    break
                if not may_follow_on(error):
                    self._closed = True
                    raise
                if not self._is_open():
                    self._closed = True
                    raise CallCancelledError("The client was closed.", reason="CLIENT_CLOSED") from error
                time.sleep(self._follower.lost(error))
        self._drop()
        raise StopIteration

    def _next_event(self) -> Event | None:
        """The next event of this stream; opens one if needed. None at its end, and once closed."""
        while not self._left():
            with suppress(IndexError):
                return self._waiting.popleft()
            message = (self._stream or self._open()).read()
            if message is None:
                self._follower.stream_ended()
                return None
            self._waiting.extend(events_of(message))
        return None

    def _open(self) -> Stream:
        state = probe(self._socket_path)
        if state is not SocketState.LISTENING:
            raise UnavailableError(f"{self._socket_path}: {state}.", reason="NO_DAEMON")
        for finished in self._channels.take_finished():
            finished.close()
        channel = self._channel = self._channels.take()
        call = watch_run(self.run_id, self.last_seq, self._follower.child_seqs, STREAM_SECONDS)
        stream = self._stream = Stream(channel, call)
        if self._left():
            stream.cancel()  # another thread closed the watch before this stream was visible to it
        stream.accepted()
        self._follower.attached()
        return stream

    def _drop(self, *, lost: bool = False) -> None:
        """Cancels the call explicitly: a dropped call object would keep running."""
        stream, self._stream = self._stream, None
        channel, self._channel = self._channel, None
        self._waiting.clear()
        if stream is not None:
            stream.cancel()
        if channel is not None:
            self._channels.give_back(channel, lost=lost)

    def close(self) -> None:
        """Ends the watch; the run continues."""
        self._closed = True
        self._drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._drop()
