"""The operations of gRPC that the client needs, for asyncio; `transport` has the same ones without it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc.aio

from aeond_client.calls.call_spec import Call, grpc_arguments
from aeond_client.connection.channels import OPTIONS
from aeond_client.connection.failures import error_of
from aeond_client.errors import CallCancelledError


@contextmanager
def translated() -> Iterator[None]:
    """Translates exceptions of a call awaited in the block; the caller's own cancellation passes through."""
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise error_of(error) from error
    except asyncio.CancelledError:
        # grpc.aio also raises this if the server, or closing the client, ended the call.
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise CallCancelledError("The call was interrupted.", reason="CONNECTION_LOST") from None


Channel = grpc.aio.Channel


def open_channel(target: str) -> Channel:
    return grpc.aio.insecure_channel(target, options=OPTIONS)


async def send(channel: Channel, call: Call[Any], seconds: float) -> Any:
    """The reply to a call, once. Raises the classes of `aeond_client.errors`."""
    method: Any = channel.unary_unary(**grpc_arguments(call.method))
    pending = method(call.request, timeout=seconds)
    try:
        with translated():
            return await pending
    finally:
        # a call must be cancelled explicitly; errors of a call that has ended do not matter
        pending.cancel()


class AsyncStream:
    """The replies to a streaming call, which starts at once and runs until `cancel`."""

    def __init__(self, channel: Channel, call: Call[Any]) -> None:
        method: Any = channel.unary_stream(**grpc_arguments(call.method))
        self._replies = method(call.request, timeout=call.seconds)

    async def accepted(self) -> None:
        """Returns once the daemon has accepted the call."""
        with translated():
            await self._replies.initial_metadata()

    async def read(self) -> Any:
        """The next message, or None at the end. Raises the classes of `aeond_client.errors`."""
        with translated():
            message = await self._replies.read()
        return None if message is grpc.aio.EOF else message

    def cancel(self) -> None:
        """Ends the call. A dropped call object would keep running."""
        self._replies.cancel()
