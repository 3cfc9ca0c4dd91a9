"""What grpc.aio raises, as errors of ours."""

import asyncio

import anyio
import grpc
import grpc.aio
import pytest

from aeond_client.async_failures import translated
from aeond_client.errors import CallCancelledError, NotFoundError


def test_a_failed_call_has_the_class_of_its_status() -> None:
    """What the daemon says reaches the caller as one class of the package, with its reason."""
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
    """A cancellation that nobody asked the caller's task for, as by closing the client, does not look like one."""
    with pytest.raises(CallCancelledError) as caught, translated():
        raise asyncio.CancelledError
    assert caught.value.reason == "CONNECTION_LOST"


async def test_the_caller_s_own_cancellation_passes() -> None:
    """Whoever is cancelled while it waits for the daemon is cancelled, and told nothing else."""
    with anyio.move_on_after(0.01) as scope, translated():
        await anyio.sleep_forever()
    assert scope.cancelled_caught
