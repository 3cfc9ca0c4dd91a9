"""A run's events as an async iterator that survives restarts of the daemon."""

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import grpc
import grpc.aio

from aeond.api.v1 import runs_pb2
from aeond_client.calls import call_spec, event_reading, run_calls
from aeond_client.connection.async_failures import translated
from aeond_client.connection.channels import StreamChannels
from aeond_client.connection.failures import may_follow_on
from aeond_client.connection.sockets import SocketState, probe
from aeond_client.errors import AeondError, UnavailableError
from aeond_client.events import Event
from aeond_client.watching.following import STREAM_SECONDS, Follower

_Call = grpc.aio.UnaryStreamCall[runs_pb2.WatchRunRequest, runs_pb2.WatchRunResponse]


class AsyncWatch:
    """The events of one run up to the last one; each numbered event once and in order. With children, also
    the events of all runs below it, each run's in order, until the last of them has ended.

    Reconnects automatically if the daemon goes away, for up to `patience_seconds`, then raises the error.
    Leaving it, by `aclose`, at the end of `async with` or by dropping it, ends the call but not the run. Only
    one task at a time may request the next event.
    """

    def __init__(
        self,
        follower: Follower,
        channels: "StreamChannels[grpc.aio.Channel]",
        socket_path: str,
        is_open: Callable[[], bool],
    ) -> None:
        self._follower = follower
        self._channels = channels
        self._socket_path = socket_path
        self._is_open = is_open
        self._channel: grpc.aio.Channel | None = None
        self._call: _Call | None = None
        self._waiting: deque[Event] = deque()
        self._closed = False

    @property
    def run_id(self) -> str:
        return self._follower.run_id

    @property
    def last_seq(self) -> int:
        """The number of the last event returned: the position from which another watch can resume."""
        return self._follower.last_seq

    def __aiter__(self) -> "AsyncWatch":
        return self

    async def __anext__(self) -> Event:
        while not self._follower.ended and not self._closed:
            try:
                event = await self._next_event()
                if event is not None and self._follower.accept(event):
                    return event
            except AeondError as error:
                self._drop(lost=True)
                if not may_follow_on(error) or not self._is_open():
                    self._closed = True
                    raise
                await asyncio.sleep(self._follower.lost(error))
        self._drop()
        raise StopAsyncIteration

    async def _next_event(self) -> Event | None:
        """The next event of this stream; opens one if needed. None at its end."""
        while not self._waiting:
            try:
                with translated():
                    call = self._call or await self._open()
                    message: Any = await call.read()
            except asyncio.CancelledError:
                self._drop()
                raise
            if message is grpc.aio.EOF:
                self._follower.stream_ended()
                return None
            self._waiting.extend(event_reading.event(event) for event in message.events)
        return self._waiting.popleft()

    async def _open(self) -> _Call:
        state = probe(self._socket_path)
        if state is not SocketState.LISTENING:
            raise UnavailableError(f"{self._socket_path}: {state}.", reason="NO_DAEMON")
        for finished in self._channels.take_finished():
            await finished.close()
        self._channel = self._channels.take()
        stream: Any = self._channel.unary_stream(
            call_spec.path_of(run_calls.WATCH_RUN),
            request_serializer=runs_pb2.WatchRunRequest.SerializeToString,
            response_deserializer=runs_pb2.WatchRunResponse.FromString,
        )
        asked = run_calls.watch_run(self.run_id, self.last_seq, self._follower.child_seqs)
        call: _Call = stream(asked, timeout=STREAM_SECONDS)
        self._call = call
        await call.initial_metadata()
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

    async def aclose(self) -> None:
        """Ends the watch; the run continues."""
        self._closed = True
        self._drop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self._drop()
