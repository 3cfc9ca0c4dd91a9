"""Virtual time that advances only when all tasks are waiting: hours pass instantly and in deterministic
order."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any

import anyio


class _Selector(selectors.SelectSelector):
    """Never waits: the time that it was to wait is added to the loop's."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everybody waits for something that will never happen"
            self.now += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is made up."""

    def __init__(self) -> None:
        self._made_up = _Selector()
        super().__init__(self._made_up)

    def time(self) -> float:
        return self._made_up.now


class VirtualClock:
    """The Clock port by the time of the loop it is used in; so are deadlines."""

    def time(self) -> float:
        return anyio.current_time()

    def monotonic(self) -> float:
        return anyio.current_time()

    async def sleep_until(self, monotonic_seconds: float) -> None:
        await anyio.sleep_until(monotonic_seconds)


def in_virtual_time(scene: Callable[[], Awaitable[None]]) -> None:
    """Plays the scene to its end in a loop of its own; AssertionError when it would wait for ever."""
    anyio.run(scene, backend_options={"loop_factory": VirtualLoop})
