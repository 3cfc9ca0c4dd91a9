"""A run's events as an iterator that survives restarts of the daemon."""

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import grpc

from aeond.api.v1 import runs_pb2
from aeond_client.calls import call_spec, event_reading, run_calls
from aeond_client.connection.channels import StreamChannels
from aeond_client.connection.failures import error_of, may_follow_on
from aeond_client.connection.sockets import SocketState, probe
from aeond_client.errors import AeondError, UnavailableError
from aeond_client.events import Event
from aeond_client.watching.following import STREAM_SECONDS, Follower


class Watch:
    """The events of one run up to the last one; each numbered event once and in order. With children, also
    the events of all runs below it, each run's in order, until the last of them has ended.

    Reconnects automatically if the daemon goes away, for up to `patience_seconds`, then raises the error.
    Leaving it, by `close`, at the end of `with` or by dropping it, ends the call but not the run. Only one
    thread at a time may request the next event; any thread may close.
    """

    def __init__(
        self,
        follower: Follower,
        channels: "StreamChannels[grpc.Channel]",
        socket_path: str,
        is_open: Callable[[], bool],
    ) -> None:
        self._follower = follower
        self._channels = channels
        self._socket_path = socket_path
        self._is_open = is_open
        self._channel: grpc.Channel | None = None
        self._call: Any = None
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
                if not may_follow_on(error) or not self._is_open():
                    self._closed = True
                    raise
                time.sleep(self._follower.lost(error))
        self._drop()
        raise StopIteration

    def _next_event(self) -> Event | None:
        """The next event of this stream; opens one if needed. None at its end, and once closed."""
        while not self._left():
            with suppress(IndexError):
                return self._waiting.popleft()
            try:
                call = self._call or self._open()
                message = next(call)
            except grpc.RpcError as error:
                failed: Any = error  # a failed call is itself the error
                raise error_of(failed) from error
            except StopIteration:
                self._follower.stream_ended()
                return None
            self._waiting.extend(event_reading.event(event) for event in message.events)
        return None

    def _open(self) -> Any:
        state = probe(self._socket_path)
        if state is not SocketState.LISTENING:
            raise UnavailableError(f"{self._socket_path}: {state}.", reason="NO_DAEMON")
        for finished in self._channels.take_finished():
            finished.close()
        channel = self._channel = self._channels.take()
        stream = channel.unary_stream(
            call_spec.path_of(run_calls.WATCH_RUN),
            request_serializer=runs_pb2.WatchRunRequest.SerializeToString,
            response_deserializer=runs_pb2.WatchRunResponse.FromString,
        )
        asked = run_calls.watch_run(self.run_id, self.last_seq, self._follower.child_seqs)
        call = self._call = stream(asked, timeout=STREAM_SECONDS)
        if self._left():
            call.cancel()  # another thread closed the watch before this call was visible to it
        call.initial_metadata()
        self._follower.attached()
        return call

    def _drop(self, *, lost: bool = False) -> None:
        """Cancels the call explicitly: a dropped call object would keep running."""
        call, self._call = self._call, None
        channel, self._channel = self._channel, None
        self._waiting.clear()
        if call is not None:
            call.cancel()
        if channel is not None:
            self._channels.give_back(channel, lost=lost)

    def close(self) -> None:
        """Ends the watch; the run continues."""
        self._closed = True
        self._drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._drop()
