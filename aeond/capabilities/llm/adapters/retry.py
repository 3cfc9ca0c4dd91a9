"""When a failed model call is made again, and after how long."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from aeond.errors import CapabilityError, LLMError, OverloadedError
from aeond.frozen import frozen
from aeond.ports import Clock

T = TypeVar("T")

Chance = Callable[[], float]  # gives a number from 0 up to 1


@frozen
class Retries:
    """Up to `attempts` in all, with exponentially growing pauses.

    A pause is between half and the whole of its nominal length, so that many callers who failed together
    do not come back together. What the server asks for (Retry-After) is never undercut: where that is over
    `longest_wait_seconds`, its error is raised at once.
    """

    clock: Clock
    chance: Chance
    attempts: int = 3
    first_pause_seconds: float = 0.25
    longest_pause_seconds: float = 8.0
    longest_wait_seconds: float = 60.0

    async def tried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """What the first attempt that succeeds returns; raises as `pause` does."""
        number = 0
        while True:
            number += 1
            try:
                return await attempt()
            except (LLMError, OverloadedError) as error:
                await self.pause(error, number)

    async def pause(self, error: CapabilityError | OverloadedError, attempt: int) -> None:
        """Waits before attempt + 1, or raises the error when attempt (from 1) was the last that makes sense."""
        retryable = isinstance(error, OverloadedError) or error.retryable
        if not retryable or attempt >= self.attempts:
            raise error
        nominal = min(self.first_pause_seconds * 2 ** (attempt - 1), self.longest_pause_seconds)
        seconds = nominal * (0.5 + 0.5 * self.chance())
        if isinstance(error, OverloadedError):
            if error.retry_after_seconds > self.longest_wait_seconds:
                raise error
            seconds = max(seconds, error.retry_after_seconds)
        await self.clock.sleep_until(self.clock.monotonic() + seconds)
