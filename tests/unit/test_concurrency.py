"""Building blocks of structured concurrency."""

import logging
from typing import Self

import anyio
import pytest

from aeond.concurrency import BackgroundTasks, Changes, closing, connection_boundary, first_of


class Ticking(BackgroundTasks):
    """Notes when its one task begins and ends."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.ended = False

    async def __aenter__(self) -> Self:
        await super().__aenter__()
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


async def test_a_change_wakes_all_who_wait_and_none_who_wait_later() -> None:
    """Each waits for the next change: those who wait already continue, and who comes afterwards waits."""
    changes, woken = Changes(), list[int]()

    async def wait(number: int) -> None:
        await changes.next.wait()
        woken.append(number)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait, 1)
        tasks.start_soon(wait, 2)
        await anyio.wait_all_tasks_blocked()
        changes.notify()
        tasks.start_soon(wait, 3)
        await anyio.wait_all_tasks_blocked()
        assert sorted(woken) == [1, 2]
        tasks.cancel_scope.cancel()


async def test_the_first_of_several_waits_ends_all_of_them() -> None:
    """The call returns with what the first of its waits returns, and none of the others goes on."""
    ended: list[str] = []
    event = anyio.Event()

    async def forever() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("forever")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first_of, event.wait, forever)
        await anyio.wait_all_tasks_blocked()
        assert not ended
        event.set()
    assert ended == ["forever"]

    async def answer() -> str:
        await anyio.lowlevel.checkpoint()
        return "answer"

    assert await first_of(forever, answer) == "answer"


async def test_a_connection_boundary_logs_errors_and_passes_cancellation_through(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An error inside is logged and suppressed; a cancelled block ends as cancelled."""
    with connection_boundary(logging.getLogger("test")):
        int("an internal error")
    with anyio.CancelScope() as scope:
        scope.cancel()
        with connection_boundary(logging.getLogger("test")):
            await anyio.sleep_forever()
    assert (scope.cancelled_caught, "ValueError" in caplog.text) == (True, True)


async def test_closing_leaves_alone_what_cannot_be_closed() -> None:
    """An iterator without an end to announce is simply let go."""

    class Plain:
        def __aiter__(self) -> "Plain":
            return self

        async def __anext__(self) -> int:
            raise StopAsyncIteration

    async with closing(Plain()) as source:
        assert [item async for item in source] == []
