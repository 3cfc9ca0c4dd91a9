"""Tasks that an object has for as long as it is entered."""

from typing import Self

import anyio
import pytest

from aeond.capabilities.llm.engine.background_tasks import BackgroundTasks


class Ticking(BackgroundTasks):
    """Notes when its one task begins and ends."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = anyio.Event()
        self.ended = False

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._tick)
        return self

    async def _tick(self) -> None:
        try:
            self.begun.set()
            await anyio.sleep_forever()
        finally:
            self.ended = True


async def test_tasks_end_with_the_block_and_its_error_stays_itself() -> None:
    """Leaving the block ends its tasks, and an error of the block reaches its caller unwrapped."""
    ticking = Ticking()
    with anyio.fail_after(60), pytest.raises(ValueError, match="the block's own"):
        async with ticking:
            await ticking.begun.wait()
            raise ValueError("the block's own")
    assert ticking.ended
