"""Connections: one channel for unary calls, others for streams.

A stream that fills its connection's flow-control window must not delay a cancel, so the two never share one.
gRPC shares connections between equal channels of a process unless configured otherwise.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

C = TypeVar("C", bound=Hashable)
"""A channel, compared by identity."""

# The daemon allows 50 streams per connection; the rest is a margin for its own accounting.
STREAMS_PER_CHANNEL = 40

OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.default_authority", "localhost"),
    ("grpc.enable_http_proxy", 0),
    # A local daemon restarts within a second; gRPC would wait up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A run with all its outputs; an event is far smaller.
    ("grpc.max_receive_message_length", 64 << 20),
)


class StreamChannels(Generic[C]):
    """Provides channels for streams, with a maximum number of streams each; a channel whose connection was
    lost is not reused.

    Thread-safe. The caller closes channels, because closing may wait: `take_finished` returns those no longer
    in use.
    """

    def __init__(self, open_channel: Callable[[], C]) -> None:
        self._open_channel = open_channel
        self._lock = threading.Lock()
        self._streams: dict[C, int] = {}  # by channel
        self._lost: set[C] = set()

    def take(self) -> C:
        """A channel with capacity for one more stream."""
        with self._lock:
            for channel, count in self._streams.items():
                if channel not in self._lost and count < STREAMS_PER_CHANNEL:
                    self._streams[channel] = count + 1
                    return channel
            channel = self._open_channel()
            self._streams[channel] = 1
            return channel

    def give_back(self, channel: C, *, lost: bool = False) -> None:
        """Ends the use of a channel by one stream; `lost` means that its connection was lost."""
        with self._lock:
            if channel in self._streams:
                self._streams[channel] -= 1
                if lost:
                    self._lost.add(channel)

    def take_finished(self) -> list[C]:
        """The lost channels without streams, to be closed."""
        with self._lock:
            finished = [channel for channel in self._lost if not self._streams[channel]]
            for channel in finished:
                del self._streams[channel]
                self._lost.remove(channel)
            return finished

    def take_all(self) -> list[C]:
        """All channels, used or not, to be closed with the client."""
        with self._lock:
            channels = list(self._streams)
            self._streams.clear()
            self._lost.clear()
            return channels
