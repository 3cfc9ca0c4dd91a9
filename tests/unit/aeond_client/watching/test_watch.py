"""Closing a watch from another thread, at any time."""

import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from types import FrameType
from typing import Any

import grpc
import pytest

from aeond.api.v1 import events_pb2, runs_pb2
from aeond_client.connection.channels import StreamChannels
from aeond_client.watching import watch as watching
from aeond_client.watching.following import Follower, unheard
from aeond_client.watching.watch import Watch

WANTED = 3


class CancelledCallError(grpc.RpcError):
    """The error of a cancelled call."""

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.CANCELLED

    def details(self) -> str:
        return "cancelled"

    def trailing_metadata(self) -> tuple[()]:
        return ()


@dataclass
class Stream:
    """One call: gives live events, two by two, until it is cancelled."""

    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True

    def initial_metadata(self) -> tuple[()]:
        return ()

    def __next__(self) -> runs_pb2.WatchRunResponse:
        if self.cancelled:
            raise CancelledCallError
        return runs_pb2.WatchRunResponse(events=[events_pb2.Event(run_id="run")] * 2)


@dataclass(eq=False)
class Daemon:
    """A channel to a daemon whose run goes on for ever."""

    calls: list[Stream] = field(default_factory=list)

    def unary_stream(self, **_how: object) -> Callable[..., Stream]:
        return self._call

    def _call(self, _request: object, **_how: object) -> Stream:
        self.calls.append(Stream())
        return self.calls[-1]


@pytest.fixture
def socket_path(tmp_path: Path) -> Iterator[str]:
    """A socket with a listener."""
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen(0)  # connections beyond the full queue also count as a listening daemon
        yield path


def watch_of(daemon: Daemon, socket_path: str) -> Watch:
    channels: StreamChannels[Any] = StreamChannels(lambda: daemon)
    follower = Follower("run", after_seq=0, patience_seconds=60.0, on_outage=unheard)
    return Watch(follower, channels, socket_path, lambda: True)


def read(watch: Watch, at_line: Callable[[], object]) -> int:
    """How many of the wanted events there were; `at_line` is called before each line that the watch runs."""

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        if frame.f_code.co_filename != watching.__file__:
            return None
        if event == "line":
            at_line()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return len(list(islice(watch, WANTED)))
    finally:
        sys.settrace(before)


def test_a_watch_may_be_closed_at_any_moment(socket_path: str) -> None:
    """Wherever the reader is when another thread closes the watch, the iteration ends and no call lives on."""
    lines = count()
    assert read(watch_of(Daemon(), socket_path), lambda: next(lines)) == WANTED
    line_count = next(lines)
    assert line_count > 20
    for last in range(line_count):
        daemon, lines = Daemon(), count()
        watch = watch_of(daemon, socket_path)

        def close(watch: Watch = watch, lines: Iterator[int] = lines, last: int = last) -> None:
            if next(lines) == last:
                watch.close()

        assert read(watch, close) <= WANTED
        assert list(watch) == []
        assert all(call.cancelled for call in daemon.calls)
