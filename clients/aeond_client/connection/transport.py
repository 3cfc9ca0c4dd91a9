"""The operations of gRPC that the client needs; `async_transport` has the same ones for asyncio."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from aeond_client.calls.call_spec import Call, grpc_arguments
from aeond_client.connection.channels import OPTIONS
from aeond_client.connection.failures import error_of

Channel = grpc.Channel


def open_channel(target: str) -> Channel:
    return grpc.insecure_channel(target, options=OPTIONS)


def send(channel: Channel, call: Call[Any], seconds: float) -> Any:
    """The reply to a call, once. Raises the classes of `aeond_client.errors`."""
    method = channel.unary_unary(**grpc_arguments(call.method))
    with translated():
        return method(call.request, timeout=seconds)


class Stream:
    """The replies to a streaming call, which starts at once and runs until `cancel`."""

    def __init__(self, channel: Channel, call: Call[Any]) -> None:
        method = channel.unary_stream(**grpc_arguments(call.method))
        self._replies: Any = method(call.request, timeout=call.seconds)

    def accepted(self) -> None:
        """Returns once the daemon has accepted the call."""
        with translated():
            self._replies.initial_metadata()

    def read(self) -> Any:
        """The next message, or None at the end. Raises the classes of `aeond_client.errors`."""
        with translated():
            return next(self._replies, None)

    def cancel(self) -> None:
        """Ends the call. A dropped call object would keep running."""
        self._replies.cancel()


def exchange(channel: Channel, method: MethodDescriptor, requests: Iterator[Message]) -> Any:
    """The replies to a call that streams in both directions, which starts at once; iterate over them in `translated`."""
    return channel.stream_stream(**grpc_arguments(method))(requests)


@contextmanager
def translated() -> Iterator[None]:
    """Translates exceptions of a call made in the block."""
    try:
        yield
    except grpc.RpcError as error:
        failed: Any = error  # a failed call is itself the error
        raise error_of(failed) from error
