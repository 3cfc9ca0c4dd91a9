"""Waiting for the first of several things."""

from collections.abc import Awaitable, Callable

import anyio


async def first_of(*waits: Callable[[], Awaitable[object]]) -> None:
    """Returns when the first of these returns; the others are cancelled."""
    async with anyio.create_task_group() as tasks:

        async def end_with(wait: Callable[[], Awaitable[object]]) -> None:
            await wait()
            tasks.cancel_scope.cancel()

        for wait in waits:
            tasks.start_soon(end_with, wait)
