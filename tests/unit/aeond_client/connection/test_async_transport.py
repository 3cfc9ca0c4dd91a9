"""Translation of grpc.aio exceptions."""

import asyncio

import anyio
import grpc
import grpc.aio
import pytest

from aeond_client.connection.async_transport import translated
from aeond_client.errors import CallCancelledError, NotFoundError


def test_a_failed_call_has_the_class_of_its_status() -> None:
    """A daemon's error reaches the caller as one class of the package, with its reason."""
    failed = grpc.aio.AioRpcError(
        grpc.StatusCode.NOT_FOUND,
        grpc.aio.Metadata(),
        grpc.aio.Metadata(("reason", "RUN_NOT_FOUND")),
        details="There is none.",
    )
    with pytest.raises(NotFoundError) as caught, translated():
        raise failed
    assert (caught.value.reason, caught.value.message) == ("RUN_NOT_FOUND", "There is none.")


async def test_a_call_that_others_cut_is_an_error() -> None:
    """A call cancelled by closing the client raises an error, not a cancellation of the caller's task."""
    with pytest.raises(CallCancelledError) as caught, translated():
        raise asyncio.CancelledError
    assert caught.value.reason == "CONNECTION_LOST"


async def test_the_caller_s_own_cancellation_passes() -> None:
    """A caller cancelled while waiting for the daemon sees only the cancellation."""
    with anyio.move_on_after(0.01) as scope, translated():
        await anyio.sleep_forever()
    assert scope.cancelled_caught
