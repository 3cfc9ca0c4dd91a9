"""From what grpc.aio raises to errors of ours."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import grpc.aio

from aeond_client.errors import CallCancelledError
from aeond_client.failures import error_of


@contextmanager
def translated() -> Iterator[None]:
    """What the block awaits of a call fails with classes of ours; the caller's own cancellation passes."""
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise error_of(error) from error
    except asyncio.CancelledError:
        # grpc.aio raises this also when the other side, or closing the client, ended the call.
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise CallCancelledError("The call was cut short.", reason="CONNECTION_LOST") from None
