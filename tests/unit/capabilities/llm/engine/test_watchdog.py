"""Silence is waiting without an answer, and nothing else."""

import anyio

from aeond.capabilities.llm.engine.watchdog import Watchdog
from tests.support.doubles import ManualClock


async def passes(clock: ManualClock, seconds: float) -> None:
    """Lets time pass and everybody notice."""
    await anyio.wait_all_tasks_blocked()
    clock.advance(seconds)
    await anyio.wait_all_tasks_blocked()


async def listen(watch: Watchdog, clock: ManualClock, heard: list[float]) -> None:
    """Notes when ten seconds of silence were heard."""
    await watch.silence(10)
    heard.append(clock.monotonic())


async def test_waiting_without_an_answer_is_silence() -> None:
    """Silence is reported once a request has waited for the whole limit, and not before."""
    clock = ManualClock()
    watch = Watchdog(clock)
    heard: list[float] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen, watch, clock, heard)
        await passes(clock, 100)  # no request waits
        with watch.waiting():
            begun = clock.monotonic()
            await passes(clock, 9)
            watch.progress()
            await passes(clock, 9)
            assert heard == []
            await passes(clock, 1)
    assert heard == [begun + 19]


async def test_a_slow_reader_is_no_silence() -> None:
    """Time in which no request waits for the server does not count against it."""
    clock = ManualClock()
    watch = Watchdog(clock)
    heard: list[float] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen, watch, clock, heard)
        for _ in range(5):
            with watch.waiting():
                await passes(clock, 5)
            await passes(clock, 50)
        assert heard == []
        tasks.cancel_scope.cancel()
