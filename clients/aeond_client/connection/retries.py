"""Retry policy of calls."""

import random
from collections.abc import Callable
from dataclasses import dataclass

# Not the shared generator: clients of programs that seed it alike would all wait alike.
CHANCE = random.SystemRandom().random


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `attempts` attempts, with delays that grow from `first_seconds` to `longest_seconds`.

    Only safe calls are repeated: calls that change nothing or are idempotent, and calls that the daemon
    rejected before starting them.
    """

    attempts: int = 6
    first_seconds: float = 0.05
    longest_seconds: float = 2.0

    def wait_seconds(
        self,
        attempt: int,
        *,
        asked_seconds: float = 0.0,
        chance: Callable[[], float] = CHANCE,
    ) -> float:
        """The delay after attempt number `attempt` (from 1) failed.

        `chance` returns numbers in 0..1 that spread many clients over time. `asked_seconds` is the delay
        requested by the daemon; it is used unless it exceeds `longest_seconds`.
        """
        grown = min(self.first_seconds * 2.0 ** min(attempt - 1, 20), self.longest_seconds)
        return max(grown * (0.5 + chance() / 2), min(asked_seconds, self.longest_seconds))
