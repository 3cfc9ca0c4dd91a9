"""Translates exceptions of grpc.aio to the classes of this package."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import grpc.aio

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
