"""Pauses between attempts: growing, bounded, scattered, and only where they make sense."""

import anyio
import pytest

from aeond.capabilities.llm.adapters.retry import Retries
from aeond.errors import CapabilityError, LLMError, LLMGoneError, OverloadedError
from tests.support.doubles import ManualClock

BROKEN = LLMGoneError("gone", retryable=True)


async def paused(chance: float, error: CapabilityError | OverloadedError, attempt: int) -> float:
    """How long the pause was."""
    clock = ManualClock()
    begun = clock.monotonic()
    retries = Retries(clock, lambda: chance, attempts=20)
    ended = anyio.Event()

    async def pause() -> None:
        await retries.pause(error, attempt)
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pause)
        await anyio.wait_all_tasks_blocked()
        while not ended.is_set():
            clock.advance(1 / 64)
            await anyio.wait_all_tasks_blocked()
    return clock.monotonic() - begun


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 0.25), (2, 0.5), (3, 1.0), (6, 8.0), (12, 8.0)])
async def test_pauses_double_up_to_a_bound(attempt: int, seconds: float) -> None:
    """Each pause is at most twice the one before, and none longer than eight seconds."""
    assert await paused(1.0, BROKEN, attempt) == pytest.approx(seconds, abs=1 / 32)
    assert await paused(0.0, BROKEN, attempt) == pytest.approx(seconds / 2, abs=1 / 32)


async def test_a_busy_server_is_given_its_time() -> None:
    """The delay that a server asks for is kept, also if the client's own would be shorter."""
    assert await paused(0.0, OverloadedError("busy", retry_after_seconds=3), 1) == pytest.approx(
        3, abs=1 / 32
    )


async def test_a_permanent_failure_is_not_retried() -> None:
    """An error that another attempt would meet again is raised at once."""
    retries = Retries(ManualClock(), lambda: 0.5)
    with pytest.raises(LLMError, match="bad"):
        await retries.pause(LLMError("bad"), 1)


@pytest.mark.parametrize("error", [BROKEN, OverloadedError("busy")])
async def test_the_last_attempt_is_the_last(error: CapabilityError | OverloadedError) -> None:
    """After three attempts the caller learns of the error."""
    retries = Retries(ManualClock(), lambda: 0.5)
    with pytest.raises(type(error)):
        await retries.pause(error, 3)
