"""How often and how fast a call is repeated."""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `attempts` tries, waiting longer each time, from `first_seconds` to `longest_seconds`.

    Only what is safe to repeat is repeated: calls that change nothing or the same thing again, and calls
    that the daemon refused before it began them.
    """

    attempts: int = 6
    first_seconds: float = 0.05
    longest_seconds: float = 2.0

    def wait_seconds(
        self,
        attempt: int,
        *,
        asked_seconds: float = 0.0,
        chance: Callable[[], float] = random.random,
    ) -> float:
        """How long to wait after the try number `attempt` (from 1) failed.

        `chance` gives numbers in 0..1 that spread many clients over time; `asked_seconds` is what the
        daemon asked for, and is kept unless it is longer than we ever wait.
        """
        grown = min(self.first_seconds * 2.0 ** min(attempt - 1, 20), self.longest_seconds)
        return max(grown * (0.5 + chance() / 2), min(asked_seconds, self.longest_seconds))
