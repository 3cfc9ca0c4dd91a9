"""The two Python clients behind one async surface, so that one suite holds for both."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from aeond_client import AsyncClient, Client, Event, Retries

T = TypeVar("T")

DEADLINE_SECONDS = 60.0


class AsyncSurface:
    """The async client as it is."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client

    async def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        with anyio.fail_after(DEADLINE_SECONDS):
            return await getattr(self.client, name)(*arguments, **options)

    async def collect(self, name: str, *arguments: Any, **options: Any) -> list[Any]:
        """Everything that a streaming method gives."""
        with anyio.fail_after(DEADLINE_SECONDS):
            return [item async for item in getattr(self.client, name)(*arguments, **options)]

    async def collect_until(self, count: int, run_id: str, after_seq: int = 0) -> list[Event]:
        """The first events of a watch, which is then left."""
        events: list[Event] = []
        with anyio.fail_after(DEADLINE_SECONDS):
            async with self.client.watch(run_id, after_seq) as watch:
                async for event in watch:
                    events.append(event)
                    if len(events) == count:
                        break
        return events


class SyncSurface:
    """The sync client in a thread of its own for each call."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        return await _in_thread(partial(getattr(self.client, name), *arguments, **options))

    async def collect(self, name: str, *arguments: Any, **options: Any) -> list[Any]:
        return await _in_thread(lambda: list(getattr(self.client, name)(*arguments, **options)))

    async def collect_until(self, count: int, run_id: str, after_seq: int = 0) -> list[Event]:
        def collect() -> list[Event]:
            events: list[Event] = []
            with self.client.watch(run_id, after_seq) as watch:
                for event in watch:
                    events.append(event)
                    if len(events) == count:
                        break
            return events

        return await _in_thread(collect)


async def _in_thread(work: Callable[[], T]) -> T:
    """The result of the work; TimeoutError, with the thread left behind, if it takes too long."""
    with anyio.fail_after(DEADLINE_SECONDS):
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


Surface = AsyncSurface | SyncSurface


@asynccontextmanager
async def async_surface(path: Path, retries: Retries | None = None) -> AsyncIterator[Surface]:
    async with AsyncClient(path, retries=retries) as client:
        yield AsyncSurface(client)


@asynccontextmanager
async def sync_surface(path: Path, retries: Retries | None = None) -> AsyncIterator[Surface]:
    with Client(path, retries=retries) as client:
        yield SyncSurface(client)


Surfaces = Callable[..., AbstractAsyncContextManager[Surface]]
SURFACES: dict[str, Surfaces] = {"async": async_surface, "sync": sync_surface}


async def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Returns once the condition holds; TimeoutError when it does not in time. A loop without a pause would take a core from the
    process that it waits for.
    """
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for happens inside gRPC or another process
            await anyio.sleep(0.002)


async def wait_for(condition: Callable[[], Awaitable[bool]], seconds: float = 60.0) -> None:
    """Like `wait_until`, for a condition that another process is asked about."""
    with anyio.fail_after(seconds):
        while not await condition():  # noqa: ASYNC110 - as above
            await anyio.sleep(0.002)
