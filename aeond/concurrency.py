"""Building blocks of structured concurrency."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Self, TypeVar

import anyio

T = TypeVar("T")


class BackgroundTasks:
    """Base class of objects with tasks of their own, which live as long as the object is entered: on exit they are
    cancelled and waited for."""

    async def __aenter__(self) -> Self:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._tasks.cancel_scope.cancel()
        # The block's own error passes by the task group, which would wrap it.
        await self._tasks.__aexit__(None, None, None)


class Changes:
    """Wakes all who wait for a change of something: `next` is the event of the next one. Who looks first and waits in another
    task takes it before looking, so that no change in between is missed."""

    def __init__(self) -> None:
        self.next = anyio.Event()

    def notify(self) -> None:
        self.next.set()
        self.next = anyio.Event()


async def first_of(*waits: Callable[[], Awaitable[T]]) -> T:
    """Returns what the first of these returns; the others are cancelled."""
    returned: list[T] = []
    async with anyio.create_task_group() as tasks:

        async def end_with(wait: Callable[[], Awaitable[T]]) -> None:
            returned.append(await wait())
            tasks.cancel_scope.cancel()

        for wait in waits:
            tasks.start_soon(end_with, wait)
    return returned[0]


@contextmanager
def connection_boundary(log: logging.Logger) -> Iterator[None]:
    """Logs an error of the code that serves one connection, and suppresses it: it would cancel the task group and, with
    it, end the daemon. Cancellation passes through."""
    try:
        yield
    except Exception:  # connection boundary: a bug in serving one connection ends that one alone
        log.exception("an internal error ended a connection")


@asynccontextmanager
async def closing(items: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """Closes the iterator on exit, in every case; one that cannot be closed holds no resources."""
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()
